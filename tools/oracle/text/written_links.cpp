// Elements of SU(n) as numbers.
#include <cmath>

#include "tools/oracle/text/written_value.hpp"

namespace vphi::tools {

namespace {

std::vector<Complex> product(const std::vector<Complex>& x, const std::vector<Complex>& y,
                             std::size_t n) {
  std::vector<Complex> result(n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t j = 0; j < n; ++j) result[i * n + j] += x[i * n + k] * y[k * n + j];
  return result;
}

}  // namespace

std::vector<Complex> link_generator(int colours, int a) {
  const auto n = static_cast<std::size_t>(colours);
  std::vector<Complex> t(n * n);
  int number = 0;
  for (std::size_t q = 1; q < n; ++q) {
    for (std::size_t p = 0; p < q; ++p) {
      if (number++ == a) {
        t[p * n + q] = t[q * n + p] = 0.5L;
        return t;
      }
      if (number++ == a) {
        t[p * n + q] = Complex(0, -0.5L);
        t[q * n + p] = Complex(0, 0.5L);
        return t;
      }
    }
    if (number++ == a) {
      const auto size = static_cast<long double>(q);
      const long double scale = 1 / std::sqrt(2 * size * (size + 1));
      for (std::size_t p = 0; p < q; ++p) t[p * n + p] = scale;
      t[q * n + q] = -size * scale;
      return t;
    }
  }
  return t;
}

long double bracket_along(int n, const std::vector<long double>& u,
                          const std::vector<long double>& v, int a) {
  const auto size = static_cast<std::size_t>(n);
  const auto matrix = [&](const std::vector<long double>& coordinates) {
    std::vector<Complex> m(size * size);
    for (std::size_t b = 0; b < coordinates.size(); ++b) {
      const std::vector<Complex> t = link_generator(n, static_cast<int>(b));
      for (std::size_t i = 0; i < m.size(); ++i) m[i] += coordinates[b] * t[i];
    }
    return m;
  };
  const std::vector<Complex> x = matrix(u), y = matrix(v), t = link_generator(n, a);
  const std::vector<Complex> xy = product(x, y, size), yx = product(y, x, size);
  Complex trace = 0;
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t j = 0; j < size; ++j)
      trace += (xy[i * size + j] - yx[i * size + j]) * t[j * size + i];
  return 2 * (Complex(0, 1) * trace).real();
}

std::vector<Complex> rotated_link(const std::vector<Complex>& u, int n, int a, long double w) {
  const auto size = static_cast<std::size_t>(n);
  const std::vector<Complex> t = link_generator(n, a);
  std::vector<Complex> term = u, sum = u;
  constexpr int kTerms = 16;  // w is below 1/100
  for (int k = 1; k <= kTerms; ++k) {
    term = product(t, term, size);
    for (std::size_t i = 0; i < term.size(); ++i) {
      term[i] *= Complex(0, w) / static_cast<long double>(k);
      sum[i] += term[i];
    }
  }
  return sum;
}

/// Turned by each generator in turn, some times.
std::vector<Complex> random_link(int n, const std::function<long double()>& normal) {
  const auto size = static_cast<std::size_t>(n);
  std::vector<Complex> u(size * size);
  for (std::size_t i = 0; i < size; ++i) u[i * size + i] = 1;
  for (int part = 0; part < 64; ++part)
    for (int a = 0; a < n * n - 1; ++a) u = rotated_link(u, n, a, normal() / 8);
  return u;
}

}  // namespace vphi::tools
