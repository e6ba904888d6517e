#include "compiler/gauge/matrix.hpp"

#include <cassert>
#include <numeric>
#include <optional>

#include "compiler/gauge/products.hpp"

namespace vphi::gauge {

using algebra::Op;

Complex plus(Complex a, Complex b) { return {plus(a.re, b.re), plus(a.im, b.im)}; }
Complex minus(Complex a, Complex b) { return {minus(a.re, b.re), minus(a.im, b.im)}; }

std::optional<Expr> phase_of(Complex a) {
  const bool back = a.im.is(Op::Neg);
  const Expr sine = back ? a.im.arg(0) : a.im;
  if (!a.re.is(Op::Cos) || !sine.is(Op::Sin) || a.re.arg(0) != sine.arg(0)) return {};
  return back ? negative(sine.arg(0)) : sine.arg(0);
}

Complex phase(Expr angle) {
  const bool back = angle.is(Op::Neg);
  const Expr forth = back ? angle.arg(0) : angle;
  const Expr sine = apply(Op::Sin, forth);
  return {apply(Op::Cos, forth), back ? negative(sine) : sine};
}

Complex times(Complex a, Complex b) {
  const auto one = phase_of(a), other = phase_of(b);
  if (one && other) return phase(plus(*one, *other));
  return {minus(times(a.re, b.re), times(a.im, b.im)), plus(times(a.re, b.im), times(a.im, b.re))};
}
Complex times(Expr a, Complex b) { return {times(a, b.re), times(a, b.im)}; }
Complex plus_product(Complex sum, Complex a, Complex b) {
  return {minus(plus(sum.re, times(a.re, b.re)), times(a.im, b.im)),
          plus(plus(sum.im, times(a.re, b.im)), times(a.im, b.re))};
}
Complex plus_product(Complex sum, Complex a, Complex b, int terms) {
  return terms > 2 ? plus_product(sum, a, b) : plus(sum, times(a, b));
}
Complex negative(Complex a) { return {negative(a.re), negative(a.im)}; }
Complex conjugate(Complex a) { return {a.re, negative(a.im)}; }
Complex times_i(Complex a) { return {negative(a.im), a.re}; }
Expr norm2(Complex a) { return plus(square(a.re), square(a.im)); }

namespace {

template <class Combine>
Matrix each(const Matrix& a, Combine combine) {
  Matrix result{a.rows, a.columns, {}};
  result.parts.reserve(a.parts.size());
  for (const Complex& part : a.parts) result.parts.push_back(combine(part));
  return result;
}

template <class Combine>
Matrix pointwise(const Matrix& a, const Matrix& b, Combine combine) {
  assert(a.rows == b.rows && a.columns == b.columns);
  Matrix result{a.rows, a.columns, {}};
  result.parts.reserve(a.parts.size());
  for (std::size_t i = 0; i < a.parts.size(); ++i)
    result.parts.push_back(combine(a.parts[i], b.parts[i]));
  return result;
}

}  // namespace

Matrix zero(Arena& arena, int rows, int columns) {
  const Complex nothing{arena.integer(0), arena.integer(0)};
  return {rows, columns, std::vector<Complex>(static_cast<std::size_t>(rows * columns), nothing)};
}

Matrix identity(Arena& arena, int n) {
  Matrix one = zero(arena, n, n);
  for (int i = 0; i < n; ++i) one.at(i, i).re = arena.integer(1);
  return one;
}

Matrix plus(const Matrix& a, const Matrix& b) {
  return pointwise(a, b, [](Complex x, Complex y) { return plus(x, y); });
}
Matrix minus(const Matrix& a, const Matrix& b) {
  return pointwise(a, b, [](Complex x, Complex y) { return minus(x, y); });
}
Matrix times(Expr a, const Matrix& b) {
  return each(b, [a](Complex x) { return times(a, x); });
}
Matrix times(Complex a, const Matrix& b) {
  return each(b, [a](Complex x) { return times(a, x); });
}

Matrix times(const Matrix& a, const Matrix& b) {
  assert(a.columns == b.rows);
  Matrix result{a.rows, b.columns, {}};
  for (int i = 0; i < a.rows; ++i) {
    for (int j = 0; j < b.columns; ++j) {
      Complex sum = times(a.at(i, 0), b.at(0, j));
      for (int k = 1; k < a.columns; ++k)
        sum = plus_product(sum, a.at(i, k), b.at(k, j), a.columns);
      result.parts.push_back(sum);
    }
  }
  return result;
}

Matrix plus_product(const Matrix& sum, const Matrix& a, const Matrix& b) {
  assert(a.columns == b.rows && sum.rows == a.rows && sum.columns == b.columns);
  if (a.columns <= 2) return plus(sum, times(a, b));
  Matrix result = sum;
  for (int i = 0; i < a.rows; ++i)
    for (int j = 0; j < b.columns; ++j)
      for (int k = 0; k < a.columns; ++k)
        result.at(i, j) = plus_product(result.at(i, j), a.at(i, k), b.at(k, j));
  return result;
}

Matrix adjoint(const Matrix& a) {
  Matrix result{a.columns, a.rows, {}};
  for (int i = 0; i < a.columns; ++i)
    for (int j = 0; j < a.rows; ++j) result.parts.push_back(conjugate(a.at(j, i)));
  return result;
}

Complex trace(const Matrix& a) {
  Complex sum = a.at(0, 0);
  for (int i = 1; i < a.rows; ++i) sum = plus(sum, a.at(i, i));
  return sum;
}

Complex trace_of_product(const Matrix& a, const Matrix& b) {
  Complex sum = times(a.at(0, 0), b.at(0, 0));
  for (int i = 0; i < a.rows; ++i)
    for (int k = i == 0 ? 1 : 0; k < a.columns; ++k)
      sum = plus_product(sum, a.at(i, k), b.at(k, i), a.columns);
  return sum;
}

Complex row_product(const Matrix& a, int i, const Matrix& b, int j) {
  Complex sum = times(conjugate(a.at(i, 0)), b.at(j, 0));
  for (int k = 1; k < a.columns; ++k)
    sum = plus_product(sum, conjugate(a.at(i, k)), b.at(j, k), a.columns);
  return sum;
}

Matrix traceless_antihermitian(const Matrix& m) {
  Arena& arena = *m.at(0, 0).re->arena;
  const Expr half = arena.rational(1, 2), none = arena.integer(0);
  Matrix result = zero(arena, m.rows, m.rows);
  for (int i = 0; i < m.rows; ++i) {
    for (int j = i + 1; j < m.rows; ++j) {
      result.at(i, j) = times(half, minus(m.at(i, j), conjugate(m.at(j, i))));
      result.at(j, i) = negative(conjugate(result.at(i, j)));
    }
  }
  const Expr mean = m.rows == 1 ? none : times(arena.rational(1, m.rows), trace(m).im);
  for (int i = 0; i < m.rows; ++i) result.at(i, i).im = minus(m.at(i, i).im, mean);
  return result;
}

/// By the first row; minors are shared between rows of equal columns.
Complex determinant(const Matrix& m) {
  const int n = m.rows;
  if (n == 1) return m.at(0, 0);
  Complex sum;
  for (int column = 0; column < n; ++column) {
    Matrix minor{n - 1, n - 1, {}};
    for (int i = 1; i < n; ++i)
      for (int j = 0; j < n; ++j)
        if (j != column) minor.parts.push_back(m.at(i, j));
    const Complex term = times(m.at(0, column), determinant(minor));
    sum = column == 0 ? term : column % 2 == 0 ? plus(sum, term) : minus(sum, term);
  }
  return sum;
}

}  // namespace vphi::gauge
