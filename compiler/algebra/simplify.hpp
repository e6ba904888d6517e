// Canonical forms: what `Arena::make` does to a sum, a product, a power and the functions.
//
// Each function takes canonical arguments and returns a canonical node, equal in value wherever
// the original is defined (x/x is 1, sqrt(x^2) is abs(x)). Division by an exact zero is left as it
// stands. Numbers are folded as far as the result is finite. Nodes belong to the arena.
#pragma once

#include "compiler/algebra/expr.hpp"

namespace vphi::algebra {

Expr sum(Arena& arena, std::span<const Expr> terms, dsl::Span span);
Expr product(Arena& arena, std::span<const Expr> factors, dsl::Span span);
Expr power(Arena& arena, Expr base, Expr exponent, dsl::Span span);
/// Everything that is neither a leaf nor a sum, product, power or stencil.
Expr function(Arena& arena, Op op, const std::vector<Expr>& args, dsl::Span span);
/// Linear operator on the lattice: uniform factors are taken out, sums are split into terms.
Expr stencil_of(Arena& arena, int index, Expr argument, dsl::Span span);

/// A sum whose terms may change places.
inline bool is_sum(Expr e) { return e.is(Op::Add) && !e->fixed_order; }
/// Factors of a product that may change places, or the expression itself.
inline std::vector<Expr> factors_of(Expr e) {
  if (e.is(Op::Mul) && !e->fixed_order) return {e.args().begin(), e.args().end()};
  return {e};
}

/// Span of a node made without one: that of the argument that tells most about where it came from
/// (a value per site before a scalar, a term before a power of a leaf; a leaf occurs everywhere).
dsl::Span inherited_span(std::span<const Expr> args);

/// A term as number * rest; rest is 1 for a Number.
struct Scaled {
  Number coefficient;
  Expr rest;
};
Scaled scaled(Expr term);

/// Minus sign in front, as one would write it: a negative factor, or a first term that has one.
bool has_leading_minus(Expr expr);

/// Cannot be negative for any real value of its leaves.
bool is_nonnegative(Expr expr);

}  // namespace vphi::algebra
