// From equations to a plan: which kernel, in which order, reading what.
//
// The integrator's text is matched against the system (docs/rules.md rule 18), its assignments
// become updates of arrays and scalars, neighbouring kicks merge, updates that may share a sweep
// are fused by dependence, arrays read at neighbours and written in the same sweep get a second
// buffer, and reductions that a scalar needs are taken in the sweep that has the values at hand.
#pragma once

#include <optional>

#include "compiler/model/plan.hpp"
#include "compiler/model/system.hpp"
#include "dsl/resolve.hpp"

namespace vphi::schedule {

std::optional<Plan> schedule(const physics::System& system, const dsl::Resolved& resolved,
                             dsl::Diagnostics& diagnostics);
/// The same, stopped after a pass (compiler/schedule/pipeline.hpp), for `vphi emit --after`.
std::optional<Plan> schedule(const physics::System& system, const dsl::Resolved& resolved,
                             dsl::Diagnostics& diagnostics, const std::string& stop_after);

}  // namespace vphi::schedule
