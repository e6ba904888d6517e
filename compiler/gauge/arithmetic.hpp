// Arithmetic with a fixed order of operations, as written.
//
// Products of link matrices have hundreds of entries with common subexpressions. Canonical sums and
// products (compiler/algebra/simplify.hpp) would flatten them and lose these, so the algebra of
// links uses ordered operations, which the passes over kernels do not change. Signs are moved
// outwards, and x*y, x + y and x - y have one form each, so that values which are equal up to a
// sign are one node, with or without a `Neg`. The lower row of a product of SU(2) matrices
// therefore costs nothing. Sums and products of two numbers are commutative to the bit, so none of
// this changes a value. Exact zeros and ones are folded. Nothing here fails.
#pragma once

#include "compiler/algebra/expr.hpp"

namespace vphi::gauge {

using algebra::Arena;
using algebra::Expr;

Expr plus(Expr a, Expr b);
Expr minus(Expr a, Expr b);
Expr times(Expr a, Expr b);
Expr over(Expr a, Expr b);
Expr negative(Expr a);
Expr square(Expr a);
Expr root(Expr a);
/// exp, log, sin, cos, min, max, less: a function of the table of operations.
Expr apply(algebra::Op op, Expr a);
Expr apply(algebra::Op op, Expr a, Expr b);
Expr select(Expr condition, Expr value, Expr otherwise);
/// The number in the arena of `like`.
Expr number(Expr like, std::int64_t value);

}  // namespace vphi::gauge
