#include "runtime/io/configurations/wilson_loop.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace vphi::io {

using std::int64_t;
using Complex = std::complex<double>;
using Matrix = std::vector<Complex>;  ///< row by row

namespace {

/// left times link, or times the adjoint link.
void multiply(const Matrix& left, std::span<const Complex> link, bool adjoint, std::size_t n,
              Matrix& product) {
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      double re = 0, im = 0;  // by parts: the operator of std::complex looks for infinities
      for (std::size_t k = 0; k < n; ++k) {
        const Complex a = left[i * n + k], b = link[adjoint ? j * n + k : k * n + j];
        const double c = b.real(), d = adjoint ? -b.imag() : b.imag();
        re += a.real() * c - a.imag() * d;
        im += a.real() * d + a.imag() * c;
      }
      product[i * n + j] = {re, im};
    }
}

/// Site next to `site` along an axis of a periodic lattice.
int64_t neighbour(const Configuration& c, int64_t site, const LoopStep& step) {
  int64_t stride = 1;
  for (int axis = 0; axis < step.axis; ++axis) stride *= c.extent[axis];
  const int64_t n = c.extent[step.axis], at = site / stride % n;
  const int64_t to = step.back ? (at + n - 1) % n : (at + 1) % n;
  return site + (to - at) * stride;
}

/// Determinant by elimination with pivots.
Complex determinant(Matrix m, std::size_t n) {
  Complex det = 1;
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < n; ++i)
      if (std::abs(m[i * n + k]) > std::abs(m[pivot * n + k])) pivot = i;
    if (m[pivot * n + k] == 0.0) return 0;
    if (pivot != k) {
      for (std::size_t j = 0; j < n; ++j) std::swap(m[k * n + j], m[pivot * n + j]);
      det = -det;
    }
    det *= m[k * n + k];
    for (std::size_t i = k + 1; i < n; ++i) {
      const Complex factor = m[i * n + k] / m[k * n + k];
      for (std::size_t j = k; j < n; ++j) m[i * n + j] -= factor * m[k * n + j];
    }
  }
  return det;
}

}  // namespace

double mean_path(const Configuration& c, std::span<const LoopStep> path) {
  const auto n = static_cast<std::size_t>(c.colours);
  Matrix product(n * n), next(n * n);
  double sum = 0;
  for (int64_t start = 0; start < c.sites(); ++start) {
    for (std::size_t i = 0; i < n * n; ++i) product[i] = i / n == i % n ? 1 : 0;
    int64_t site = start;
    for (const LoopStep& step : path) {
      if (step.back) site = neighbour(c, site, step);
      multiply(product, c.link(site, step.axis), step.back, n, next);
      std::swap(product, next);
      if (!step.back) site = neighbour(c, site, step);
    }
    double trace = 0;
    for (std::size_t i = 0; i < n; ++i) trace += product[i * n + i].real();
    sum += trace;
  }
  return sum / (static_cast<double>(n) * static_cast<double>(c.sites()));
}

double mean_plaquette(const Configuration& c, int axes) {
  double sum = 0;
  int planes = 0;
  for (int mu = 0; mu < axes; ++mu)
    for (int nu = mu + 1; nu < axes; ++nu, ++planes)
      sum += mean_path(c, std::array<LoopStep, 4>{{{mu}, {nu}, {mu, true}, {nu, true}}});
  return sum / planes;
}

double mean_rectangle(const Configuration& c, int axes) {
  double sum = 0;
  int planes = 0;
  for (int mu = 0; mu < axes; ++mu)
    for (int nu = 0; nu < axes; ++nu) {
      if (mu == nu) continue;
      sum += mean_path(
          c, std::array<LoopStep, 6>{{{mu}, {mu}, {nu}, {mu, true}, {mu, true}, {nu, true}}});
      ++planes;
    }
  return sum / planes;
}

double mean_link(const Configuration& c, int axes) {
  double sum = 0;
  for (int mu = 0; mu < axes; ++mu) sum += mean_path(c, std::array<LoopStep, 1>{{{mu}}});
  return sum / axes;
}

double distance_from_group(const Configuration& c) { return farthest_from_group(c).distance; }

Farthest farthest_from_group(const Configuration& c) {
  const auto n = static_cast<std::size_t>(c.colours);
  Matrix link(n * n), square(n * n);
  Farthest farthest;
  for (int64_t site = 0; site < c.sites(); ++site)
    for (int mu = 0; mu < 4; ++mu) {
      const auto entries = c.link(site, mu);
      link.assign(entries.begin(), entries.end());
      multiply(link, entries, true, n, square);
      for (std::size_t i = 0; i < n; ++i) square[i * n + i] -= 1;
      double here = n == 1 ? 0 : std::abs(determinant(link, n) - 1.0);  // U(1): any phase
      for (const Complex& entry : square) here = std::max(here, std::abs(entry));
      for (const Complex& entry : link)
        if (!std::isfinite(entry.real()) || !std::isfinite(entry.imag()))
          return {std::numeric_limits<double>::quiet_NaN(), site, mu};
      if (here > farthest.distance) farthest = {here, site, mu};
    }
  return farthest;
}

}  // namespace vphi::io
