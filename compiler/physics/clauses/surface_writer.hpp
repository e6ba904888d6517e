// `-> music("gold", T = T, v = v, ...)`: a freeze-out surface in the format of another program.
//
// The arguments of the writer become what the elements of the surface carry, under the names that
// program/surface_formats.hpp lists. A format fixes coordinates and units, so the surface lies in
// proper time and a plane, perhaps with the rapidity: `metric scale(1, 1, t)` and `units fm`.
#pragma once

#include <string>

#include "compiler/physics/fields/program_units.hpp"
#include "compiler/physics/lower/lower.hpp"
#include "compiler/physics/stages/outputs.hpp"

namespace vphi::physics {

/// Adds the columns to the surface of a clause whose target is such a writer. E0837 where the
/// clause or the model does not fit the format.
void give_columns(const Program& d, Lowerer& lower, ProgramUnits& units, const dsl::Expr& target,
                  OutputClause& out);

}  // namespace vphi::physics
