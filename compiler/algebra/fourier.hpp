// Fourier polynomials of pair functions: f(x_i, x_j) = g(u_i - u_j) with a smooth g of period 2 pi.
//
// A translation-invariant periodic function is a sum of products of sines and cosines of whole
// multiples of the angle, so that a sum over pairs costs O(N*K) instead of O(N^2):
//   g(d) = sum_{k<=K} a_k cos(k d) + b_k sin(k d),
//   sum_j w_j g(u_i - u_j) = sum_k (a_k C_k - b_k S_k) cos(k u_i) + (a_k S_k + b_k C_k) sin(k u_i),
//   C_k = sum_j w_j cos(k u_j),  S_k = sum_j w_j sin(k u_j)
// (docs/formulas.md 6.4). The coefficients of an analytic g decrease exponentially, for the
// softened ring as exp(-k arccosh(1 + eps)), and the trapezoidal rule on M points has their error:
// M is doubled until the upper half of the spectrum is negligible. All arithmetic has 64-bit
// mantissas. Pure functions; a function without such a series gives a NoSeries with the reason.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "compiler/algebra/expr.hpp"

namespace vphi::algebra {

struct Series {
  int array = 0;                          ///< u: the Load of both sites
  std::vector<long double> cosine, sine;  ///< a_k and b_k, k = 0, ..., K
  /// Bound of |g - polynomial| from the omitted coefficients, relative to the largest |g|.
  long double bound = 0;
  int modes() const { return static_cast<int>(cosine.size()) - 1; }
};

struct NoSeries {
  enum class Why {
    NotADifference,  ///< no function of the difference of one variable of the two sites
    NotPeriodic,     ///< not periodic with 2 pi
    Singular,        ///< not finite at some angle
    Rough,           ///< it needs more than `most` modes
    Open,            ///< it contains the scalar `symbol`, whose value is not known at compile time
  };
  Why why = Why::NotADifference;
  int modes = 0;  ///< Rough: the number that is needed; 0: too many to be determined
  std::string symbol;
};

/// `pair` has no factor of one site alone. `tolerance` is relative to the largest value.
std::variant<Series, NoSeries> fourier_series(Expr pair, double tolerance, int most);

/// own(x_i)*between(x_i, x_j)*other(x_j) of a product.
struct PairFactors {
  Expr own, between, other;
};
PairFactors pair_factors(Expr pair);

}  // namespace vphi::algebra
