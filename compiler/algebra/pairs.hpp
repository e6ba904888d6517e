// Functions of a pair of sites (or particles, or instances), and sums of them that separate.
//
// f(x_i, x_j) is an expression whose Loads and Sites are of site i ("own") or, marked by `other`,
// of site j. Where f is a finite sum of products A_r(x_i)*B_r(x_j), the sum over all j costs O(N):
// it is sum_r A_r(x_i)*S_r with S_r = sum_j B_r(x_j). `separate` finds the fewest products: sines,
// cosines and exponentials of sums are taken apart by the addition theorems, products and powers of
// sums multiplied out, and the matrix of coefficients over the distinct own and other factors is
// factorised exactly (docs/formulas.md 6.3). What mixes i and j inside another function (a root, a
// logarithm) does not separate. `disagreement` checks the result on random points; `cancellation`
// says how many digits its sum loses. Pure functions; nothing fails.
#pragma once

#include <optional>
#include <vector>

#include "compiler/algebra/expr.hpp"

namespace vphi::algebra {

/// The same function of the other site of the pair: every own Load marked.
Expr other(Expr own);
bool is_other(const Node& leaf);
/// The offset that `other` adds, and no neighbour has.
bool is_mark(const Offset& offset);
/// Entry (i, j) of a matrix array: a Load that belongs to both sites of the pair.
Expr pair_entry(Arena& arena, int array, dsl::Span span = {});
bool is_pair_entry(const Node& leaf);
/// The entry (j, i): what `exchanged` makes of one.
bool is_transposed(const Node& entry);
/// f(x_i, x_j) -> f(x_j, x_i).
Expr exchanged(Expr pair);
/// Whether f(x_i, x_j) is f(x_j, x_i). With Floor in it, as in the distance to the nearest image,
/// the two may differ where it jumps: then they are compared at random points on many scales.
bool symmetric(Expr pair);
/// The other site's Loads become own ones.
Expr as_own(Expr of_other);
bool reads_own(Expr pair);
bool reads_other(Expr pair);

/// Op::PairSum of a pair function, term by term; factors without site j are taken out of the sum.
Expr pair_sum(Expr pair, bool without_self);
/// d/du(x) of the sum over all sites of a density with PairSums (see `variation`). The factor of
/// each PairSum enters it, and for the other site of a pair the function is exchanged. The
/// derivative by reads outside of PairSums is the caller's, of `rest`.
struct PairVariation {
  Expr slope;                               ///< from the PairSums
  Expr rest;                                ///< the density with every PairSum a symbol
  std::vector<std::pair<Expr, Expr>> held;  ///< symbol, PairSum
};
PairVariation vary_pairs(Expr density, int array);

/// Sines, cosines and their kind of sums over both sites by their addition theorems, and products
/// opened where factors of the site itself then leave the sum: fewer operations for each pair.
Expr in_separable_form(Expr pair);
/// Largest error of the pair function, over its root mean square, when everything that belongs to
/// one site alone is rounded to f32; close pairs included. The least possible value is 1e-7.
double rounding_error(Expr pair);

/// own * other, the second as a function of own Loads.
struct SeparatedTerm {
  Expr own, other;
};

/// sum_r own_r(x_i)*other_r(x_j) = pair(x_i, x_j); nothing where it does not separate.
std::optional<std::vector<SeparatedTerm>> separate(Expr pair);

/// Largest |pair - sum| over 64 random points, relative to the largest |pair|: 64-bit mantissa.
long double disagreement(Expr pair, const std::vector<SeparatedTerm>& terms);

/// Largest sum_r |own_r*other_r| over the root mean square of pair, for values around `centre` with
/// the given spread: the factor by which the sum enlarges rounding errors.
double cancellation(Expr pair, const std::vector<SeparatedTerm>& terms, double centre,
                    double spread);

}  // namespace vphi::algebra
