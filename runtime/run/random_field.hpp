// The random arrays of a Program, made on the host before the first launch.
//
// Vacuum: vacuum.hpp. Normal: mean 0, variance 1; Uniform in (low, high); both counted by site.
// The result is multiplied by the field's amplitude. Throws RunError where the lattice has no
// vacuum (four dimensions).
#pragma once

#include <vector>

#include "program/program.hpp"
#include "runtime/run/vacuum.hpp"

namespace vphi::runtime {

/// The vacuum that a random field of kind Vacuum asks for.
Vacuum vacuum_of(const program::Program& program, const program::RandomField& field);

std::vector<double> random_field(const program::Program& program, const program::RandomField& field,
                                 int threads);

}  // namespace vphi::runtime
