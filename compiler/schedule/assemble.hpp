// The last stage: loops that the passes have gone over become numbered kernels, and the program
// that launches them.
//
// In: the parts behind the passes, and the tables, to which nothing is added any more. Out: the
// plan. What is refused here: a sweep of a model that transforms fields on the host.
#pragma once

#include "compiler/model/plan.hpp"
#include "compiler/schedule/parts.hpp"

namespace vphi::schedule {

Plan assemble(const physics::System& system, const dsl::Resolved& resolved, ReadyParts parts,
              Layout layout, dsl::Diagnostics& diagnostics);

}  // namespace vphi::schedule
