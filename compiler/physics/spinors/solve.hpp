// Linear systems A(x) = b as the model writes them: `solve(A, b, solver = cg(1e-12))`.
//
// A is a function of the model. It is lowered once with loads of new arrays as its argument, which
// gives A(x) as expressions of x. Their linearity is checked on their form: x occurs in no product
// with itself, in no function and in no condition, and every term contains it. The adjoint is
// derived as well: A^+ y is the derivative of sum(y.A(x)) by x, shifts and stencils included. With
// derivatives by the real components this is the complex adjoint of a complex operator. The
// solution has arrays of its own (System::solves); the schedule makes kernels from the solver's
// text.
#pragma once

#include "compiler/physics/fields/program_units.hpp"

namespace vphi::physics {

/// A term that is not linear in the arrays, or null; a term without them is not linear.
Expr not_linear(Expr value, const std::vector<int>& arrays);

/// The value of `together`, how many right sides are solved in one go: a whole number, or E0737.
Expr right_sides(const Declared& d, const dsl::Expr& e, Expr value);

}  // namespace vphi::physics
