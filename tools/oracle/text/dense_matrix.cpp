#include "tools/oracle/text/dense_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace vphi::tools {

namespace {

Dense unit(std::size_t n) {
  Dense one(n * n);
  for (std::size_t i = 0; i < n; ++i) one[i * n + i] = 1;
  return one;
}

/// Turns the rows and columns p, q of the hermitian `a` so that a[p][q] is 0, and the columns of v.
void rotate(Dense& a, Dense& v, std::size_t n, std::size_t p, std::size_t q) {
  const Complex between = a[p * n + q];
  const long double size = std::abs(between);
  if (size == 0) return;
  const Complex phase = between / size;
  const long double angle = std::atan2(2 * size, a[q * n + q].real() - a[p * n + p].real()) / 2;
  const long double c = std::cos(angle), s = std::sin(angle);
  for (Dense* m : {&a, &v})
    for (std::size_t k = 0; k < n; ++k) {
      const Complex x = (*m)[k * n + p], y = (*m)[k * n + q] * std::conj(phase);
      (*m)[k * n + p] = c * x - s * y, (*m)[k * n + q] = s * x + c * y;
    }
  for (std::size_t k = 0; k < n; ++k) {
    const Complex x = a[p * n + k], y = a[q * n + k] * phase;
    a[p * n + k] = c * x - s * y, a[q * n + k] = s * x + c * y;
  }
}

}  // namespace

Dense inverse_of(Dense a, std::size_t n) {
  Dense x = unit(n);
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k; i < n; ++i)
      if (std::abs(a[i * n + k]) > std::abs(a[pivot * n + k])) pivot = i;
    for (std::size_t j = 0; j < n; ++j) {
      std::swap(a[k * n + j], a[pivot * n + j]);
      std::swap(x[k * n + j], x[pivot * n + j]);
    }
    const Complex d = a[k * n + k];
    for (std::size_t j = 0; j < n; ++j) a[k * n + j] /= d, x[k * n + j] /= d;
    for (std::size_t i = 0; i < n; ++i) {
      const Complex f = a[i * n + k];
      if (i == k || f == Complex(0)) continue;
      for (std::size_t j = 0; j < n; ++j)
        a[i * n + j] -= f * a[k * n + j], x[i * n + j] -= f * x[k * n + j];
    }
  }
  return x;
}

Dense square_of(const Dense& a, std::size_t n) {
  Dense b(n * n);
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) b[i * n + j] += std::conj(a[k * n + i]) * a[k * n + j];
  return b;
}

Dense power_of(Dense a, std::size_t n, long double p) {
  constexpr int kSweeps = 14;
  Dense v = unit(n);
  for (int sweep = 0; sweep < kSweeps; ++sweep)
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = i + 1; j < n; ++j) rotate(a, v, n, i, j);
  Dense result(n * n);
  for (std::size_t k = 0; k < n; ++k) {
    const long double value = std::pow(a[k * n + k].real(), p);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        result[i * n + j] += value * v[i * n + k] * std::conj(v[j * n + k]);
  }
  return result;
}

std::vector<Complex> product_of(const Dense& a, const std::vector<Complex>& v) {
  const std::size_t n = v.size();
  std::vector<Complex> result(n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) result[i] += a[i * n + j] * v[j];
  return result;
}

}  // namespace vphi::tools
