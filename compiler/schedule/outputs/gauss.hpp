// Gauss's law at the start, for `init gauss = 0` (compiler/physics/starts/gauss_start.hpp).
//
// First momenta turn so that no charge is left in the box, then the law of each generator becomes
// chi by a map in Fourier space, then E gets the gradient of chi. About links that are not 1 a
// linear system for all generators gives chi, which changes all momenta (gauss_projection.hpp
// there).
#pragma once

#include <vector>

#include "compiler/schedule/outputs/initial.hpp"

namespace vphi::schedule {

/// What runs after the arrays of the start are set, and before its scalars; empty where the start
/// has no law to obey.
std::vector<StartPart> obey_gauss(const physics::System& system, Slots& slots, Storage& storage);

}  // namespace vphi::schedule
