// What can be seen of a linear system A(x) = b without solving it.
//
// Most of it is read off the form of A. Whether A is complex linear, and whether two maps are the
// same, is tried with numbers: maps that are linear and agree for some numbers agree for all. Pure
// functions; nothing fails.
#pragma once

#include <vector>

#include "compiler/model/system.hpp"
#include "compiler/physics/stages/program.hpp"

namespace vphi::physics {

/// A^+ x: the derivative of sum(y.A(x)) by x, with y called x again. Empty where there is none: in
/// a box that is not periodic, of an A in stages or with a mean over the lattice.
std::vector<Expr> adjoint_of(const Program& d, const LinearSystem& solve);

/// Whether two maps differ on numbers at all of their leaves.
bool differ(const std::vector<Expr>& a, const std::vector<Expr>& b);

/// A(i u) = i A(u). An operator that holds a reduction is taken to be so.
bool complex_linear(const LinearSystem& solve);

/// Whether the solver counts on a hermitian operator: the option `hermitian` of its head is not 0.
bool wants_hermitian(const LinearSystem& solve);

/// Whether it makes complex numbers of fields: `dot` with nothing around that makes it real.
bool wants_complex(const text::Solver& solver);

/// Numbers of the arrays that an operator is written in: the argument, then the stages.
std::vector<int> arrays_of(const LinearSystem& solve);
/// Values of the stages, then the image.
std::vector<Expr> values_of(const LinearMap& map);

/// Both have the same operator and the same solver.
bool alike(const LinearSystem& a, const LinearSystem& b);

}  // namespace vphi::physics
