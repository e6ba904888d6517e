// Which variables go with which in a step: every way to share them out over the integrator's head
// is scheduled for trial, and the one with the fewest sweeps wins (then: least memory, fewest
// averages, fewest dependences within a group).
#pragma once

#include <optional>

#include "compiler/schedule/steps/step.hpp"

namespace vphi::schedule {

/// The step of whatever moves the system; nothing where `diagnostics` says why there is none.
std::optional<Stepping> choose_step(const physics::System& system, Slots& slots, Storage& storage,
                                    dsl::Diagnostics& diagnostics);

}  // namespace vphi::schedule
