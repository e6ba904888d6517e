// Right sides that are stored and not solved for (compiler/physics/spinors/stored_blocks.hpp): one
// sequence of loops, without rounds. Nothing here can fail.
#pragma once

#include "compiler/schedule/solver/solver.hpp"

namespace vphi::schedule {

SolveLoops make_stored(const physics::System& system, const physics::LinearSystem& solve,
                       const Stepping& stepping, Slots& slots, Storage& storage);

}  // namespace vphi::schedule
