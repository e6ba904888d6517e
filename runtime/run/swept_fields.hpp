// Spectra, histograms, slices and snapshots of a sweep: one table with the axes of the sweep in
// front.
//
// Every instance gives the table that it would give alone (observe::reduce); the tables lie one
// after the other in the order of the axes. A histogram `over` axes counts the values of all
// instances that agree on the others together. Pure but for what it reads; throws RunError where
// tables of instances have different lengths.
#pragma once

#include <functional>
#include <vector>

#include "program/program.hpp"
#include "runtime/io/results.hpp"

namespace vphi::runtime {

/// `read`: values of one instance in a buffer. `scalars`: blocks of all instances.
io::Table swept_table(const program::Program& program, const program::FieldOutput& field,
                      const std::function<std::vector<double>(int, std::int64_t)>& read,
                      const std::vector<double>& scalars, int threads);

}  // namespace vphi::runtime
