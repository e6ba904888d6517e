// Functions of a pair of sites (or particles, or instances), and sums of them that separate.
//
// f(x_i, x_j) is an expression whose Loads and Sites are of site i ("own") or, marked by `other`,
// of site j. Where f is a finite sum of products A_r(x_i)*B_r(x_j), the sum over all j costs O(N):
// it is sum_r A_r(x_i)*S_r with S_r = sum_j B_r(x_j). `separate` finds the fewest products: sines,
// cosines and exponentials of sums are expanded by the addition theorems, products and powers of
// sums are multiplied out, and the matrix of coefficients over the distinct own and other factors
// is factorised exactly (docs/formulas.md 6.3). A function of i and j inside another function (a
// root, a logarithm) does not separate. `disagreement` checks the result at random points;
// `cancellation` estimates the loss of digits in its sum. Pure functions; nothing fails.
#pragma once

#include <optional>
#include <vector>

#include "compiler/algebra/expr.hpp"

namespace vphi::algebra {

/// The same function of the other site of the pair: every own Load gets the mark.
Expr other(Expr own);
bool is_other(const Node& leaf);
/// Whether it is the mark, an offset that no neighbour has.
bool is_mark(const Offset& offset);
/// Entry (i, j) of a matrix array: a Load that belongs to both sites of the pair.
Expr pair_entry(Arena& arena, int array, dsl::Span span = {});
bool is_pair_entry(const Node& leaf);
/// Whether it is the entry (j, i), the result of `exchanged` for an entry.
bool is_transposed(const Node& entry);
/// f(x_i, x_j) -> f(x_j, x_i).
Expr exchanged(Expr pair);
/// Whether f(x_i, x_j) is f(x_j, x_i). With Floor in it, as in the distance to the nearest image,
/// the two may differ at its jumps; they are then compared at random points on many scales.
bool symmetric(Expr pair);
/// Whether f(x_i, x_i) is finite, at random points. A function that cannot be evaluated counts as
/// finite.
bool finite_with_itself(Expr pair);
/// Loads of the other site become own Loads.
Expr as_own(Expr of_other);
bool reads_own(Expr pair);
bool reads_other(Expr pair);

/// Op::PairSum of a pair function, term by term; factors without site j are taken out of the sum.
Expr pair_sum(Expr pair, bool without_self);
/// d/du(x) of the sum over all sites of a density with PairSums (see `variation`). It contains the
/// factors of the PairSums, and the exchanged function for the other site of a pair. The caller
/// computes the derivative by reads outside of PairSums from `rest`.
struct PairVariation {
  Expr slope;                               ///< from the PairSums
  Expr rest;                                ///< the density with every PairSum a symbol
  std::vector<std::pair<Expr, Expr>> held;  ///< symbol, PairSum
};
PairVariation vary_pairs(Expr density, int array);

/// Expands sines, cosines and similar functions of sums over both sites by their addition theorems,
/// and products where factors of the site itself can then be taken out of the sum. This leaves
/// fewer operations for each pair.
Expr in_separable_form(Expr pair);
/// Largest error of the pair function, over its root mean square, when everything that belongs to
/// one site alone is rounded to f32; close pairs included. The least possible value is 1e-7.
double rounding_error(Expr pair);

/// own * other, the second as a function of own Loads.
struct SeparatedTerm {
  Expr own, other;
};

/// sum_r own_r(x_i)*other_r(x_j) = pair(x_i, x_j); nothing where `pair` does not separate.
std::optional<std::vector<SeparatedTerm>> separate(Expr pair);

/// Largest |pair - sum| over 64 random points, relative to the largest |pair|: 64-bit mantissa.
long double disagreement(Expr pair, const std::vector<SeparatedTerm>& terms);

/// Largest sum_r |own_r*other_r| over the root mean square of pair, for values around `centre` with
/// the given spread: the factor by which the sum enlarges rounding errors.
double cancellation(Expr pair, const std::vector<SeparatedTerm>& terms, double centre,
                    double spread);

}  // namespace vphi::algebra
