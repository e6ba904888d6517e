// What the series of a Markov chain say: mean, error and autocorrelation time of each observable.
//
// The state a chain starts from is no draw and is left out (rows at t = 0); what came before
// equilibrium is not, unless the output says `after`, so a first quarter that lies off the rest is
// told. Axes of a sweep keep their own averages; instances along an ensemble axis are independent
// chains with one mean. Pure functions of the results.
#pragma once

#include <string>
#include <vector>

#include "runtime/observe/autocorrelation.hpp"
#include "runtime/run/run.hpp"

namespace vphi::runtime {

/// One for each series, and for each place along the axes that a series has, the last one fastest.
std::vector<ChainSeries> chain_series(const RunResult& result);

/// Sentences about averages that should not be believed as they stand; empty where all are sound.
std::vector<std::string> chain_notes(const std::vector<ChainSeries>& all);

/// Error of the mean of values in time along one chain or path: by the Gamma method, and never
/// below blocking's where there are too few of them for a window; then `converged` is false.
struct TimeError {
  double error = 0;
  bool converged = false;
};
TimeError time_error(const std::vector<double>& values);

}  // namespace vphi::runtime
