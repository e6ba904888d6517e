#include "compiler/algebra/matrix.hpp"

#include <algorithm>
#include <cmath>

namespace vphi::algebra {

Matrix product(const Matrix& a, const Matrix& b) {
  const std::size_t n = a.size();
  Matrix c(n, std::vector<double>(n, 0));
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t j = 0; j < n; ++j) c[i][j] += a[i][k] * b[k][j];
  return c;
}

double largest_entry(const Matrix& a) {
  double most = 0;
  for (const auto& row : a)
    for (const double x : row) most = std::max(most, std::isfinite(x) ? std::abs(x) : INFINITY);
  return most;
}

double spectral_radius(Matrix a, int squarings) {
  double logarithm = 0, share = 1;
  for (int i = 0; i < squarings; ++i) {
    const double size = largest_entry(a);
    if (size == 0 || !std::isfinite(size)) return size;
    for (auto& row : a)
      for (double& x : row) x /= size;
    logarithm += share * std::log(size);
    share /= 2;
    a = product(a, a);
  }
  const double size = largest_entry(a);
  return size > 0 ? std::exp(logarithm + share * std::log(size)) : 0;
}

}  // namespace vphi::algebra
