// Between physics and schedule: checks and changes that depend on the integrator's text.
//
// The stages in order, each from a system to the next one: `judge_waves` (stability.hpp) refuses a
// dt above the limit of the fastest waves. `with_calculus` (steps/noise.hpp) adds the drift of the
// calculus that the text converges to. `warn_of_growth` (growth.hpp) checks the linearised
// equations. `with_references` (physics/fields/deviation.hpp) splits the fields that are stored as
// deviations; it comes last because the checks are those of whole fields.
#pragma once

#include <optional>

#include "compiler/model/system.hpp"
#include "dsl/messages/diagnostic.hpp"

namespace vphi::schedule {

/// The system to be scheduled; nothing where an error was reported.
std::optional<physics::System> prepare(physics::System system, dsl::Diagnostics& diagnostics);

}  // namespace vphi::schedule
