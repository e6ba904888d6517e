// Canonical forms: the simplifications of `Arena::make` for sums, products, powers and functions.
//
// Each function takes canonical arguments and returns a canonical node, equal in value wherever the
// original is defined (x/x is 1, sqrt(x^2) is abs(x)). Division by an exact zero is not simplified.
// Numbers are folded where the result is finite. Nodes belong to the arena.
#pragma once

#include "compiler/algebra/expr.hpp"

namespace vphi::algebra {

Expr sum(Arena& arena, std::span<const Expr> terms, dsl::Span span);
Expr product(Arena& arena, std::span<const Expr> factors, dsl::Span span);
Expr power(Arena& arena, Expr base, Expr exponent, dsl::Span span);
/// An operation that is neither a leaf nor a sum, product, power or stencil.
Expr function(Arena& arena, Op op, const std::vector<Expr>& args, dsl::Span span);
/// Linear operator on the lattice: uniform factors are taken out, sums are split into terms.
Expr stencil_of(Arena& arena, int index, Expr argument, dsl::Span span);

/// Whether it is a sum whose terms may be reordered.
inline bool is_sum(Expr e) { return e.is(Op::Add) && !e->fixed_order; }
/// Factors of a product that may be reordered, or the expression itself.
inline std::vector<Expr> factors_of(Expr e) {
  if (e.is(Op::Mul) && !e->fixed_order) return {e.args().begin(), e.args().end()};
  return {e};
}

/// The span of a node that is made without one: that of its most specific argument (a per-site
/// value before a scalar, a term before a power of a leaf; leaves are the least specific).
dsl::Span inherited_span(std::span<const Expr> args);

/// A term as number * rest; rest is 1 for a Number.
struct Scaled {
  Number coefficient;
  Expr rest;
};
Scaled scaled(Expr term);

/// Whether it is printed with a minus sign in front: it has a negative factor, or its first term
/// has.
bool has_leading_minus(Expr expr);

/// Whether it cannot be negative for any real values of its leaves.
bool is_nonnegative(Expr expr);

}  // namespace vphi::algebra
