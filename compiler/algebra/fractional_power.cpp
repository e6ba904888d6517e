#include "compiler/algebra/fractional_power.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace vphi::algebra {

namespace {

using Real = long double;
using Vector = std::vector<Real>;

constexpr int kMostOrder = 40;
constexpr Real kStep = 0.02L;  // of the power
constexpr Real kRounding = 2e-14L;

/// sn(u K, k) of the elliptic functions with k^2 = 1 - eps, by descending Landen transformations.
Real sn_of_part(Real part, Real eps) {
  Vector a{1}, c;
  Real b = std::sqrt(eps);
  while (std::size(c) < 32 && a.back() - b > 1e-19L * a.back()) {
    c.push_back((a.back() - b) / 2);
    const Real mean = (a.back() + b) / 2;
    b = std::sqrt(a.back() * b);
    a.push_back(mean);
  }
  // u = part K with K = pi/(2 a_last)
  Real phi = std::ldexp(part * std::numbers::pi_v<Real> / 2, static_cast<int>(c.size()));
  for (std::size_t i = c.size(); i-- > 0;)
    phi = (phi + std::asin(c[i] / a[i + 1] * std::sin(phi))) / 2;
  return std::sin(phi);
}

/// The error as a function of t = ln z on [ln eps, 0]: ln(r z^p), r = exp(scale) prod (z +
/// exp(zero_j))/(z + exp(pole_j)).
struct Ripple {
  Real p = 0.5L, eps = 0;
  Real scale = 0;
  Vector zeros, poles;  ///< logarithms, ascending

  int n() const { return static_cast<int>(poles.size()); }
  Real operator()(Real t) const {
    const Real z = std::exp(t);
    Real ratio = 1;
    for (std::size_t j = 0; j < poles.size(); ++j)
      ratio *= (z + std::exp(zeros[j])) / (z + std::exp(poles[j]));
    return scale + p * t + std::log(ratio);
  }
};

Ripple zolotarev(Real eps, int n) {
  Ripple r{0.5L, eps, 0, {}, {}};
  for (int j = 1; j <= 2 * n; ++j) {
    const Real s = std::pow(sn_of_part(static_cast<Real>(j) / (2 * n + 1), eps), 2);
    const Real value = std::log((1 - s) / s);
    (j % 2 == 1 ? r.zeros : r.poles).push_back(value);
  }
  std::ranges::reverse(r.zeros);
  std::ranges::reverse(r.poles);
  return r;
}

/// The places of the extremes: both ends, and one between neighbouring roots of the error without
/// its mean; nothing where there are not 2n + 2.
std::optional<Vector> extremes(const Ripple& r) {
  const int samples = 60 * (r.n() + 1);
  const Real from = std::log(r.eps);
  const auto place = [&](int i) {
    // denser at the ends, where extremes crowd
    const Real u = static_cast<Real>(i) / samples;
    return from * (1 + std::cos(std::numbers::pi_v<Real> * u)) / 2;
  };
  Vector at{from};
  Real before = r(place(0)), here = r(place(1));
  for (int i = 1; i < samples; ++i) {
    const Real next = r(place(i + 1));
    if ((here - before) * (next - here) < 0) {
      Real low = place(i - 1), high = place(i + 1);
      const Real sign = here > before ? 1 : -1;
      for (int k = 0; k < 60; ++k) {
        const Real a = low + (high - low) * 0.381966L, b = low + (high - low) * 0.618034L;
        (sign * r(a) < sign * r(b) ? low : high) = sign * r(a) < sign * r(b) ? a : b;
      }
      at.push_back((low + high) / 2);
    }
    before = here, here = next;
  }
  at.push_back(0);
  if (std::ssize(at) != 2 * r.n() + 2) return std::nullopt;
  return at;
}

/// Solves a x = b by elimination with pivots; false where a is singular.
bool eliminate(std::vector<Vector>& a, Vector& b) {
  const std::size_t n = b.size();
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < n; ++i)
      if (std::fabs(a[i][k]) > std::fabs(a[pivot][k])) pivot = i;
    if (!(std::fabs(a[pivot][k]) > 0)) return false;
    std::swap(a[k], a[pivot]), std::swap(b[k], b[pivot]);
    for (std::size_t i = k + 1; i < n; ++i) {
      const Real f = a[i][k] / a[k][k];
      if (f == 0) continue;
      for (std::size_t j = k; j < n; ++j) a[i][j] -= f * a[k][j];
      b[i] -= f * b[k];
    }
  }
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t j = k + 1; j < n; ++j) b[k] -= a[k][j] * b[j];
    b[k] /= a[k][k];
  }
  return true;
}

/// Moves poles, zeros and scale so that the error at `at` is +d, -d, +d, ... of one d.
bool level(Ripple& r, const Vector& at) {
  const auto n = static_cast<std::size_t>(r.n());
  const std::size_t size = 2 * n + 2;
  for (int round = 0; round < 40; ++round) {
    std::vector<Vector> a(size, Vector(size));
    Vector b(size);
    for (std::size_t i = 0; i < size; ++i) {
      const Real z = std::exp(at[i]);
      for (std::size_t j = 0; j < n; ++j) {
        const Real zero = std::exp(r.zeros[j]), pole = std::exp(r.poles[j]);
        a[i][j] = zero / (z + zero);
        a[i][n + j] = -pole / (z + pole);
      }
      a[i][2 * n] = 1;
      a[i][2 * n + 1] = i % 2 == 0 ? -1 : 1;
      b[i] = -r(at[i]);
    }
    if (!eliminate(a, b)) return false;
    Real most = 0;
    for (std::size_t j = 0; j < 2 * n; ++j) most = std::max(most, std::fabs(b[j]));
    if (!std::isfinite(most)) return false;
    const Real part = std::min<Real>(1, 0.5L / std::max<Real>(most, 1e-30L));
    for (std::size_t j = 0; j < n; ++j) r.zeros[j] += part * b[j], r.poles[j] += part * b[n + j];
    r.scale += part * b[2 * n];
    if (most < 1e-9L) return true;
  }
  return true;  // what is left is seen in the ripple
}

/// The largest |error| over the smallest, and the largest.
std::pair<Real, Real> unevenness(const Ripple& r, const Vector& at) {
  Real most = 0, least = 1e30L;
  for (const Real t : at) {
    most = std::max(most, std::fabs(r(t)));
    least = std::min(least, std::fabs(r(t)));
  }
  return {most / least, most};
}

bool settle(Ripple& r, Vector& at, int rounds, Real even) {
  for (int round = 0; round < rounds; ++round) {
    if (!level(r, at)) return false;
    if (unevenness(r, at).second < kRounding) return true;  // extremes are not told from rounding
    const auto found = extremes(r);
    if (!found) return false;
    at = *found;
    if (unevenness(r, at).first < even) return true;
  }
  return false;
}

std::optional<Ripple> ripple_of(Real p, Real eps, int n) {
  Ripple r = zolotarev(eps, n);
  // the mean of the error is 0
  const Real from = std::log(eps);
  Real most = -1e30L, least = 1e30L;
  for (int i = 0; i <= 1000; ++i) {
    const Real value = r(from * i / 1000);
    most = std::max(most, value), least = std::min(least, value);
  }
  r.scale = -(most + least) / 2;
  const int steps = static_cast<int>(std::ceil(std::fabs(p - 0.5L) / kStep));
  if (steps == 0) return r;
  auto at = extremes(r);
  if (!at && most > kRounding) return std::nullopt;
  if (!at) {
    at.emplace();
    for (int i = 2 * n + 1; i >= 0; --i)
      at->push_back(from * (1 - std::cos(std::numbers::pi_v<Real> * i / (2 * n + 1))) / 2);
  }
  for (int i = 1; i <= steps; ++i) {
    r.p = 0.5L + (p - 0.5L) * i / steps;
    const bool last = i == steps;
    if (!settle(r, *at, last ? 30 : 3, last ? 1.001L : 1.5L)) return std::nullopt;
  }
  return r;
}

/// The sum of fractions of scale prod (z + zero)/(z + pole) on [eps, 1], stretched to [low, high].
SimpleFractions fractions(Real scale, const Vector& zeros, const Vector& poles, Real high,
                          Real power) {
  SimpleFractions result;
  const Real factor = std::pow(high, power);
  result.constant = factor * scale;
  for (std::size_t k = 0; k < poles.size(); ++k) {
    const Real pole = std::exp(poles[k]);
    Real residue = scale;
    for (std::size_t j = 0; j < zeros.size(); ++j) residue *= std::exp(zeros[j]) - pole;
    for (std::size_t j = 0; j < poles.size(); ++j)
      if (j != k) residue /= std::exp(poles[j]) - pole;
    result.poles.push_back(pole * high);
    result.residues.push_back(residue * factor * high);
  }
  return result;
}

std::optional<SimpleFractions> power_of(Real p, Real low, Real high, int n, bool direct) {
  const Real eps = low / high;
  if (!(p > 0 && p < 1 && eps > 0 && eps < 1) || n < 1 || n > kMostOrder) return std::nullopt;
  const auto r = ripple_of(p, eps, n);
  if (!r) return std::nullopt;
  Vector zeros = r->zeros, poles = r->poles;
  if (direct) std::swap(zeros, poles);
  const Real scale = std::exp(direct ? -r->scale : r->scale);
  SimpleFractions result = fractions(scale, zeros, poles, high, direct ? p : -p);
  const Real from = std::log(eps);
  for (int i = 0; i <= 1000; ++i)
    result.error = std::max(result.error, std::fabs(std::expm1((*r)(from * i / 1000))));
  return result;
}

}  // namespace

long double SimpleFractions::operator()(long double z) const {
  long double sum = constant;
  for (std::size_t k = 0; k < poles.size(); ++k) sum += residues[k] / (z + poles[k]);
  return sum;
}

std::optional<SimpleFractions> inverse_power(long double p, long double low, long double high,
                                             int n) {
  return power_of(p, low, high, n, false);
}

std::optional<SimpleFractions> direct_power(long double p, long double low, long double high,
                                            int n) {
  return power_of(p, low, high, n, true);
}

}  // namespace vphi::algebra
