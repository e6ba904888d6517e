#include "compiler/gauge/cholesky.hpp"

namespace vphi::gauge {

namespace {

/// L^-1 of A A^+ = L L^+, and log det L.
Inverted inverse_factor(const Matrix& a) {
  const int n = a.rows;
  Arena& arena = *a.parts[0].re->arena;
  Matrix lower = zero(arena, n, n), inverse = zero(arena, n, n);
  Expr logarithm;
  for (int j = 0; j < n; ++j) {
    Expr pivot = row_product(a, j, a, j).re;
    for (int k = 0; k < j; ++k) pivot = minus(pivot, norm2(lower.at(j, k)));
    const Expr scale = over(number(pivot, 1), root(pivot));
    const Expr log = apply(algebra::Op::Log, pivot);
    logarithm = logarithm ? plus(logarithm, log) : log;
    inverse.at(j, j) = {scale, number(pivot, 0)};
    for (int i = j + 1; i < n; ++i) {
      Complex sum = row_product(a, j, a, i);
      for (int k = 0; k < j; ++k)
        sum = minus(sum, times(lower.at(i, k), conjugate(lower.at(j, k))));
      lower.at(i, j) = times(scale, sum);
    }
  }
  for (int j = 0; j < n; ++j) {
    for (int i = j + 1; i < n; ++i) {
      Complex sum = times(lower.at(i, j), inverse.at(j, j));
      for (int k = j + 1; k < i; ++k) sum = plus(sum, times(lower.at(i, k), inverse.at(k, j)));
      inverse.at(i, j) = negative(times(inverse.at(i, i).re, sum));
    }
  }
  return {inverse, times(arena.rational(1, 2), logarithm)};
}

}  // namespace

Inverted inverted(const Matrix& a) {
  const Inverted factor = inverse_factor(a);
  return {times(adjoint(times(factor.inverse, a)), factor.inverse), factor.logarithm};
}

}  // namespace vphi::gauge
