// Starts that are kept only where a condition holds: `sweep event = 0..999, keep = condition`.
//
// The condition is a scalar of each instance, computed of its initial values; the run draws a start
// again until it holds (runtime/run/starts/kept_starts.hpp).
#pragma once

#include "compiler/physics/stages/start.hpp"

namespace vphi::physics {

/// The name of the number of draws in the language.
inline constexpr const char* kDraws = "draws";

/// Adds that scalar and the number of draws to the collected ones. E0879
/// where the condition has a value at every site, reads averages, or nothing is drawn by the host.
void read_kept_start(const Program& d, Lowerer& lower, ProgramUnits& units, const Start& start);

}  // namespace vphi::physics
