// Exact solutions of relativistic fluids with p = e/3, from their closed forms (docs/formulas.md
// 4.5; Landau and Lifshitz, Fluid Mechanics, chapter XV). Nothing of the compiler is used.
//
//   rarefaction: atanh(v) + k ln(e) is constant, k = sqrt(3)/4, dx/dt = (v - c)/(1 - v c)
//   shock r = e2/e1: v_rel = (r - 1) sqrt(3)/sqrt((3 + r)(3 r + 1)),
//                    v_shock = sqrt((3 r + 1)/(3 (3 + r))), v1 v2 = 1/3, n2/n1 = g1 v1/(g2 v2)
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

namespace vphi::testing {

struct Fluid {
  double e = 0, v = 0, n = 0;
};

/// Matter at rest of energy density `left` meets matter at rest of `right` < left at x = 0.
class ShockTube {
 public:
  ShockTube(Fluid left, Fluid right) : left_(left), right_(right) {
    double low = right.e, high = left.e;
    for (int i = 0; i < 200; ++i) {
      const double e = (low + high) / 2;
      (fan_velocity(e) > shock_velocity(e) ? low : high) = e;
    }
    e_ = (low + high) / 2;
    v_ = fan_velocity(e_);
    const double r = e_ / right.e;
    shock_ = std::sqrt((3 * r + 1) / (3 * (3 + r)));
    const double v1 = shock_, v2 = 1 / (3 * v1);
    n_left_ = left.n * std::pow(e_ / left.e, 0.75);
    n_right_ = right.n * gamma(v1) * v1 / (gamma(v2) * v2);
  }
  double e() const { return e_; }
  double v() const { return v_; }
  double shock() const { return shock_; }

  Fluid at(double xi) const {
    const double c = 1 / std::sqrt(3.0);
    if (xi <= -c) return left_;
    if (xi >= shock_) return right_;
    const double tail = (v_ - c) / (1 - v_ * c);
    if (xi < tail) {
      const double theta = std::atanh(xi) + std::atanh(c);
      const double e = left_.e * std::exp(-theta / kK);
      return {e, std::tanh(theta), left_.n * std::pow(e / left_.e, 0.75)};
    }
    return {e_, v_, xi < v_ ? n_left_ : n_right_};
  }

 private:
  static constexpr double kK = 0.43301270189221932;
  static double gamma(double v) { return 1 / std::sqrt(1 - v * v); }
  double fan_velocity(double e) const { return std::tanh(kK * std::log(left_.e / e)); }
  double shock_velocity(double e) const {
    const double r = e / right_.e;
    return (r - 1) * std::sqrt(3.0) / std::sqrt((3 + r) * (3 * r + 1));
  }
  Fluid left_, right_;
  double e_, v_, shock_, n_left_, n_right_;
};

/// Matter of energy density 1 and baryon density 1 beside vacuum.
inline Fluid into_vacuum(double xi) {
  const double c = 1 / std::sqrt(3.0);
  if (xi <= -c) return {1, 0, 1};
  if (xi >= 1) return {0, 1, 0};
  const double e = std::pow((1 - xi) * (1 - c) / ((1 + xi) * (1 + c)), 2 / std::sqrt(3.0));
  return {e, (xi + c) / (1 + xi * c), std::pow(e, 0.75)};
}

/// Means over cells of a function of x on [-L/2, L/2], from 8 points of each cell: as they are in
/// the tables of errors, which depend on it by a percent where a shock lies within a cell.
inline std::vector<double> cell_means(const std::function<double(double)>& f, int cells,
                                      double length, int points = 8) {
  std::vector<double> means(static_cast<std::size_t>(cells));
  const double dx = length / cells;
  for (int i = 0; i < cells; ++i) {
    double sum = 0;
    for (int k = 0; k < points; ++k) sum += f(-length / 2 + dx * (i + (k + 0.5) / points));
    means[static_cast<std::size_t>(i)] = sum / points;
  }
  return means;
}

/// Mean of |a - b|.
inline double l1(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::abs(a[i] - b[i]);
  return sum / static_cast<double>(a.size());
}

/// e, v and n of conserved densities, p = e/3.
inline Fluid recovered(double E, double M, double N) {
  if (!(E > 0)) return {0, 0, 0};
  const double m = std::abs(M);
  const double e = 3 * (E - m) * (E + m) / (std::sqrt(4 * E * E - 3 * m * m) + E);
  const double v = M / (E + e / 3);
  return {e, v, N * std::sqrt(std::max(0.0, 1 - v * v))};
}

}  // namespace vphi::testing
