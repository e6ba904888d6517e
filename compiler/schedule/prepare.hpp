// Between physics and schedule: the system against the text of its integrator.
//
// The stages in order, each from a system to the next one: `judge_waves` (stability.hpp) refuses a
// dt above the limit of the fastest waves, `with_calculus` (noise.hpp) adds the drift of the
// calculus that the text converges to, and `warn_of_growth` (growth.hpp) looks at the linear
// equations as a whole.
#pragma once

#include <optional>

#include "compiler/model/system.hpp"
#include "dsl/messages/diagnostic.hpp"

namespace vphi::schedule {

/// The system as it is scheduled; nothing where an error was added.
std::optional<physics::System> prepare(physics::System system, dsl::Diagnostics& diagnostics);

}  // namespace vphi::schedule
