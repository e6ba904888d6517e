// Assigns the variables of the system to the variables of the integrator's head. Every possible
// assignment is scheduled, and the one with the fewest sweeps is chosen (then: least memory, fewest
// averages, fewest dependences within a group).
#pragma once

#include <optional>

#include "compiler/schedule/steps/step.hpp"

namespace vphi::schedule {

/// The step of the system's dynamics; nothing, with an error in `diagnostics`, where there is none.
std::optional<Stepping> choose_step(const physics::System& system, Slots& slots, Storage& storage,
                                    dsl::Diagnostics& diagnostics);

}  // namespace vphi::schedule
