// Solves in two precisions: a text around a solver takes approximate solutions from it.
//
// The text (`refined` in models/std/solvers.vphi) calls inner(v, tol) once in an iteration. The
// call solves the same system on arrays of f32 to `tol`, by the solver that the model
// names; the operator's other arrays are copied to f32 at its start. Nothing here fails.
#pragma once

#include "compiler/model/system.hpp"
#include "compiler/schedule/tables.hpp"

namespace vphi::schedule {

struct InnerSolve {
  physics::System system;       ///< with the numerics of the iterations
  physics::LinearSystem solve;  ///< right side: Loads of memory
};
InnerSolve inner_of(const physics::System& system, const physics::LinearSystem& solve, Slots& slots,
                    Storage& storage);

/// The system that the text around is run for: with its own options, and `tol` as the call has it.
physics::LinearSystem system_around(const physics::LinearSystem& solve);

}  // namespace vphi::schedule
