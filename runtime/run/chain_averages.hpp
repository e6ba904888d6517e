// Averages of a Markov chain: mean, error and autocorrelation time of each observable.
//
// The initial state of a chain is not a sample; its row (t = 0) is omitted. Rows before equilibrium
// are included unless the output has `after`; there is a note if the first quarter deviates from
// the rest. There is an average for each value of the swept parameters; instances along an ensemble
// axis are independent chains with a common mean. Pure functions of the results.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "runtime/observe/autocorrelation.hpp"
#include "runtime/run/run.hpp"

namespace vphi::runtime {

/// The averages: one for each series and each place along its axes, the last axis fastest.
std::vector<ChainSeries> chain_series(const RunResult& result);

/// Warnings about averages that may be wrong, one sentence each; empty where there are none.
/// `unit`: see `chain_unit`.
std::vector<std::string> chain_notes(const std::vector<ChainSeries>& all, const std::string& unit);

/// Accepted fraction of the proposals in `steps` steps, for each instance; empty where the chain
/// makes no proposals. `scalars`: as for `refused_all`.
std::vector<double> acceptance(const program::Program& program, std::span<const double> scalars,
                               std::int64_t instances, std::int64_t steps);
/// "0.62 of all proposals", "0.55 to 0.71 of all proposals"; empty where there is none.
std::string acceptance_text(const std::vector<double>& acceptance);

/// Notes on instances without a single accepted proposal in `steps`. `scalars`: of the instances
/// from `first` on; instances without a count of proposals are omitted.
std::vector<std::string> refused_all(const program::Program& program,
                                     std::span<const double> scalars, std::int64_t first,
                                     std::int64_t instances, std::int64_t steps);

/// "sweep" or "trajectory"; empty where the program is not a chain.
std::string chain_unit(const program::Program& program);

}  // namespace vphi::runtime
