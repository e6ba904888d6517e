// Iterative refinement: an outer text takes approximate solutions from a solver in a lower
// precision.
//
// The text (`refined` in models/std/solvers.vphi) calls inner(v, tol) once in an iteration. The
// call solves the same system on arrays of f32 to `tol`, by the solver that the model
// names; the operator's other arrays are copied to f32 at its start. Nothing here fails.
#pragma once

#include "compiler/model/system.hpp"
#include "compiler/schedule/tables.hpp"

namespace vphi::schedule {

/// The system with the numerics of the inner iterations.
physics::System in_lower_precision(physics::System system);

/// The linear system of the call, with memory of its own: its right side is Loads.
physics::LinearSystem inner_of(const physics::LinearSystem& solve, Slots& slots, Storage& storage);

/// The linear system for the outer text: with its options, and the tolerance of the call.
physics::LinearSystem system_around(const physics::LinearSystem& solve);

}  // namespace vphi::schedule
