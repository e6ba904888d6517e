// Averages of a Markov chain: mean, error and autocorrelation time of each observable.
//
// The initial state of a chain is not a draw and is left out (rows at t = 0). Rows before
// equilibrium are included unless the output says `after`; a note says so if the first quarter
// deviates from the rest. Axes of a sweep keep their own averages; instances along an ensemble axis
// are independent chains with one mean. Pure functions of the results.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "runtime/observe/autocorrelation.hpp"
#include "runtime/run/run.hpp"

namespace vphi::runtime {

/// One for each series, and for each place along the axes that a series has, the last one fastest.
std::vector<ChainSeries> chain_series(const RunResult& result);

/// Warnings about averages that may be wrong, one sentence each; empty where there are none.
/// `unit`: what the chain counts, as `chain_unit` says.
std::vector<std::string> chain_notes(const std::vector<ChainSeries>& all, const std::string& unit);

/// Share of the proposals of `steps` steps that were accepted, by instance; empty where the chain
/// makes none. `scalars`: as below.
std::vector<double> acceptance(const program::Program& program, std::span<const double> scalars,
                               std::int64_t instances, std::int64_t steps);
/// "0.62 of all proposals", "0.55 to 0.71 of all proposals"; empty where there is none.
std::string acceptance_text(const std::vector<double>& acceptance);

/// Notes on instances without a single accepted proposal in `steps`. `scalars`: of the
/// instances from `first` on; an instance whose proposals are not counted is left out.
std::vector<std::string> refused_all(const program::Program& program,
                                     std::span<const double> scalars, std::int64_t first,
                                     std::int64_t instances, std::int64_t steps);

/// "sweep" or "trajectory"; empty where the program is not a chain.
std::string chain_unit(const program::Program& program);

}  // namespace vphi::runtime
