// Properties of a linear system A(x) = b that are found without solving it.
//
// Most follow from the expressions of A. Whether A is complex linear, and whether two maps are
// equal, is tested with random numbers. Pure functions; nothing fails.
#pragma once

#include <vector>

#include "compiler/model/system.hpp"
#include "compiler/physics/stages/program.hpp"

namespace vphi::physics {

/// A^+ x: the derivative of sum(y.A(x)) by x, with y renamed to x. Empty where it cannot be formed:
/// in a box that is not periodic, for an A with stages or with a mean over the lattice.
std::vector<Expr> adjoint_of(const Program& d, const LinearSystem& solve);

/// Whether two maps differ when numbers are substituted for their leaves.
bool differ(const std::vector<Expr>& a, const std::vector<Expr>& b);

/// Whether A(i u) = i A(u). An operator with a reduction is assumed to be complex linear.
bool complex_linear(const LinearSystem& solve);

/// Whether the solver needs a hermitian operator: the option `hermitian` of its head is not 0.
bool wants_hermitian(const LinearSystem& solve);

/// Whether the solver uses complex scalars: a `dot` that is not made real.
bool wants_complex(const text::Solver& solver);

/// Array numbers of an operator: those of the argument, then those of the stages.
std::vector<int> arrays_of(const LinearSystem& solve);
/// Values of the stages, then the image.
std::vector<Expr> values_of(const LinearMap& map);

/// Whether two systems have the same operator and the same solver.
bool alike(const LinearSystem& a, const LinearSystem& b);
/// The same of systems with arrays of their own for everything, as fields of determinants have:
/// whether one text solves both of them.
bool same_form(const LinearSystem& a, const LinearSystem& b);

}  // namespace vphi::physics
