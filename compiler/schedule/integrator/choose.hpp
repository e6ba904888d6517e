// Which variables belong to which variable of the integrator's head. Every assignment is scheduled
// for trial, and the one with the fewest sweeps is taken (then: least memory, fewest averages,
// fewest dependences within a group).
#pragma once

#include <optional>

#include "compiler/schedule/steps/step.hpp"

namespace vphi::schedule {

/// The step of whatever moves the system; nothing where `diagnostics` says why there is none.
std::optional<Stepping> choose_step(const physics::System& system, Slots& slots, Storage& storage,
                                    dsl::Diagnostics& diagnostics);

}  // namespace vphi::schedule
