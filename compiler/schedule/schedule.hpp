// Makes a plan from the equations: the kernels, their order, and their memory.
//
// The integrator's text is matched against the system (docs/rules.md rule 18), and its assignments
// become updates of arrays and scalars. Adjacent kicks merge, and updates are fused into one sweep
// where their dependences allow it. Arrays that are read at neighbours and written in the same
// sweep get a second buffer. Reductions are taken in the sweep that computes the values.
#pragma once

#include <optional>

#include "compiler/model/plan.hpp"
#include "compiler/model/system.hpp"
#include "dsl/resolve.hpp"

namespace vphi::schedule {

/// Registers of 32 bits that a thread of a GPU has.
inline constexpr int kRegistersOfThread = 255;

std::optional<Plan> schedule(const physics::System& system, const dsl::Resolved& resolved,
                             dsl::Diagnostics& diagnostics);
/// The same, stopped after a pass (compiler/schedule/pipeline.hpp), for `vphi emit --after`;
/// `renewal`: with Program::renewed_averages and renewed_scalars; `registers`: of a thread of a
/// GPU, 0 for processors (solver/columns.hpp).
std::optional<Plan> schedule(const physics::System& system, const dsl::Resolved& resolved,
                             dsl::Diagnostics& diagnostics, const std::string& stop_after,
                             bool renewal = false, int registers = 0);

}  // namespace vphi::schedule
