// The last stage: makes numbered kernels from the loops after the passes, and the program that
// launches them.
//
// In: the parts after the passes, and the complete tables. Out: the plan. Refused here: a sweep (of
// parameters) of a model that transforms fields on the host.
#pragma once

#include "compiler/model/plan.hpp"
#include "compiler/schedule/parts.hpp"

namespace vphi::schedule {

Plan assemble(const physics::System& system, const dsl::Resolved& resolved, ReadyParts parts,
              Layout layout, bool renewal, dsl::Diagnostics& diagnostics);

}  // namespace vphi::schedule
