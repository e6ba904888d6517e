#include "compiler/algebra/matrix.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

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

namespace {

using ComplexEntry = std::complex<double>;
using ComplexMatrix = std::vector<std::vector<ComplexEntry>>;

/// A similar matrix that is 0 below the first subdiagonal, by elimination with pivots.
ComplexMatrix hessenberg(const Matrix& a) {
  ComplexMatrix h;
  for (const auto& row : a) h.emplace_back(row.begin(), row.end());
  const std::size_t n = h.size();
  for (std::size_t c = 0; c + 2 < n; ++c) {
    std::size_t pivot = c + 1;
    for (std::size_t r = c + 2; r < n; ++r)
      if (std::abs(h[r][c]) > std::abs(h[pivot][c])) pivot = r;
    if (h[pivot][c] == 0.0) continue;
    std::swap(h[c + 1], h[pivot]);
    for (auto& row : h) std::swap(row[c + 1], row[pivot]);
    for (std::size_t r = c + 2; r < n; ++r) {
      const ComplexEntry by = h[r][c] / h[c + 1][c];
      for (std::size_t k = 0; k < n; ++k) h[r][k] -= by * h[c + 1][k];
      for (std::size_t k = 0; k < n; ++k) h[k][c + 1] += by * h[k][r];
    }
  }
  return h;
}

/// The eigenvalue of the last two rows up to `last` that is nearest to their last entry.
ComplexEntry shift_of(const ComplexMatrix& h, std::size_t last) {
  const ComplexEntry a = h[last - 1][last - 1], d = h[last][last];
  const ComplexEntry half = (a - d) / 2.0;
  const ComplexEntry root = std::sqrt(half * half + h[last - 1][last] * h[last][last - 1]);
  return d + half - (std::real(std::conj(half) * root) < 0 ? -root : root);
}

/// h - shift = QR of the rows from `first` to `last` becomes RQ + shift.
void turn(ComplexMatrix& h, std::size_t first, std::size_t last, ComplexEntry shift) {
  for (std::size_t i = first; i <= last; ++i) h[i][i] -= shift;
  std::vector<std::pair<ComplexEntry, ComplexEntry>> turns;  // cosine and sine of each rotation
  for (std::size_t i = first; i < last; ++i) {
    const double size = std::hypot(std::abs(h[i][i]), std::abs(h[i + 1][i]));
    const ComplexEntry c = size > 0 ? h[i][i] / size : 1, s = size > 0 ? h[i + 1][i] / size : 0;
    turns.emplace_back(c, s);
    for (std::size_t k = i; k <= last; ++k) {
      const ComplexEntry x = h[i][k], y = h[i + 1][k];
      h[i][k] = std::conj(c) * x + std::conj(s) * y;
      h[i + 1][k] = c * y - s * x;
    }
  }
  for (std::size_t i = first; i < last; ++i) {
    const auto [c, s] = turns[i - first];
    for (std::size_t r = first; r <= std::min(i + 1, last); ++r) {
      const ComplexEntry x = h[r][i], y = h[r][i + 1];
      h[r][i] = c * x + s * y;
      h[r][i + 1] = std::conj(c) * y - std::conj(s) * x;
    }
  }
  for (std::size_t i = first; i <= last; ++i) h[i][i] += shift;
}

}  // namespace

std::vector<ComplexEntry> eigenvalues(const Matrix& a) {
  constexpr int kMostTurns = 60;  // of one eigenvalue; two or three are usual
  if (a.empty() || !std::isfinite(largest_entry(a))) return {};
  const double unit = 1e-16 * largest_entry(a);
  ComplexMatrix h = hessenberg(a);
  std::vector<ComplexEntry> found;
  std::size_t last = h.size() - 1;
  for (int turns = 0;;) {
    const auto small = [&](std::size_t i) {
      return std::abs(h[i][i - 1]) <=
             1e-16 * (std::abs(h[i][i]) + std::abs(h[i - 1][i - 1])) + unit;
    };
    std::size_t first = last;
    while (first > 0 && !small(first)) --first;
    if (first == last) {
      found.push_back(h[last][last]);
      if (last-- == 0) return found;
      turns = 0;
      continue;
    }
    if (++turns > kMostTurns) return {};
    // a shift of another kind where the usual one goes around
    const bool stuck = turns % 12 == 0;
    turn(h, first, last, stuck ? h[last][last] + std::abs(h[last][last - 1]) : shift_of(h, last));
  }
}

}  // namespace vphi::algebra
