// Linear systems A(x) = b as the model writes them: `solve(A, b, solver = cg(1e-12))`.
//
// A is a function of the model. It is lowered once with loads of new arrays as its argument, which
// gives A(x) as expressions of x; that these are linear is read off their form: x stands in no
// product with itself, under no function, in no condition, and no term is without it. The adjoint
// needs no text either: A^+ y is the derivative of sum(y.A(x)) by x, shifts and stencils included;
// taken by the real components it is the complex adjoint of a complex operator. What is solved is
// found by its arrays from then on (System::solves); the schedule runs the solver's text.
#pragma once

#include "compiler/physics/fields/program_units.hpp"

namespace vphi::physics {

/// The term that is not linear in the arrays, or null: a part without them counts as one.
Expr not_linear(Expr value, const std::vector<int>& arrays);

}  // namespace vphi::physics
