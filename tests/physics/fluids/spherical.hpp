// A ball of fluid, p = e/3, that expands into vacuum: one dimension, spherical symmetry. An
// independent solver for the three-dimensional runs: finite volumes between spheres, two waves at
// each face (HLLE) between limited states, Heun's method. Nothing of the compiler is used.
//
//   E' = -(1/r^2) d(r^2 (E + p) v)/dr      M' = -(1/r^2) d(r^2 (M v + p))/dr + 2 p/r
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace vphi::testing {

class Sphere {
 public:
  /// Radius and energy density of the ball at the start; cells dr wide up to `most`.
  Sphere(double radius, double density, double dr, double most)
      : dr_(dr), E_(static_cast<std::size_t>(most / dr)), M_(E_.size(), 0.0) {
    for (std::size_t i = 0; i < E_.size(); ++i) {
      const double share = std::clamp((radius - face(i)) / dr, 0.0, 1.0);
      E_[i] = density * share;
    }
  }

  void advance(double time) {
    const int steps = static_cast<int>(std::ceil(time / (0.4 * dr_)));
    const double dt = time / steps;
    for (int n = 0; n < steps; ++n) {
      const std::vector<double> E0 = E_, M0 = M_;
      euler(dt);
      euler(dt);
      for (std::size_t i = 0; i < E_.size(); ++i) {
        E_[i] = (E0[i] + E_[i]) / 2, M_[i] = (M0[i] + M_[i]) / 2;
      }
      limit();
    }
  }

  /// Energy density in the fluid's own frame, between the cells.
  double density(double r) const {
    const double at = std::max(r / dr_ - 0.5, 0.0);
    const auto i = std::min(static_cast<std::size_t>(at), E_.size() - 2);
    const double f = std::min(at - static_cast<double>(i), 1.0);
    return (1 - f) * own(i) + f * own(i + 1);
  }

 private:
  struct State {
    double e = 0, v = 0;
    double E() const { return (4 / (1 - v * v) - 1) * e / 3; }
    double M() const { return 4 * e / 3 / (1 - v * v) * v; }
  };
  double face(std::size_t i) const { return dr_ * static_cast<double>(i); }
  State state(std::size_t i) const {
    const double E = E_[i], M = M_[i];
    if (!(E > 0)) return {};
    const double e = 3 * (E - M) * (E + M) / (std::sqrt(4 * E * E - 3 * M * M) + E);
    return {e, M / (E + e / 3)};
  }
  double own(std::size_t i) const { return state(i).e; }

  void limit() {
    for (std::size_t i = 0; i < E_.size(); ++i) {
      if (E_[i] < 1e-13) E_[i] = M_[i] = 0;
      const double most = E_[i] * (1 - 1e-12);
      M_[i] = std::clamp(M_[i], -most, most);
    }
  }

  static double minmod3(double a, double b, double c) {
    if (a > 0 && b > 0 && c > 0) return std::min({a, b, c});
    if (a < 0 && b < 0 && c < 0) return std::max({a, b, c});
    return 0;
  }

  void euler(double dt) {
    constexpr double kTheta = 1.5;
    const std::size_t n = E_.size();
    std::vector<State> s(n);
    for (std::size_t i = 0; i < n; ++i) s[i] = state(i);
    // slopes of e and of the rapidity, so that faces hold possible states
    std::vector<double> de(n, 0.0), dy(n, 0.0);
    const auto y = [&](std::size_t i) { return std::atanh(s[i].v); };
    for (std::size_t i = 0; i + 1 < n; ++i) {
      const double e_before = i > 0 ? s[i - 1].e : s[0].e, y_before = i > 0 ? y(i - 1) : -y(0);
      const double y_here = y(i), y_next = y(i + 1);
      de[i] = minmod3(kTheta * (s[i].e - e_before), (s[i + 1].e - e_before) / 2,
                      kTheta * (s[i + 1].e - s[i].e));
      dy[i] = minmod3(kTheta * (y_here - y_before), (y_next - y_before) / 2,
                      kTheta * (y_next - y_here));
    }
    std::vector<double> flux_E(n + 1, 0.0), flux_M(n + 1, 0.0);
    const double c = 1 / std::sqrt(3.0);
    for (std::size_t i = 0; i <= n; ++i) {
      const std::size_t left = i > 0 ? i - 1 : 0, right = std::min(i, n - 1);
      State l{s[left].e + de[left] / 2, std::tanh(y(left) + dy[left] / 2)};
      State r{s[right].e - de[right] / 2, std::tanh(y(right) - dy[right] / 2)};
      if (i == 0) l = {r.e, -r.v};
      if (i == n) r = l;
      if (l.e <= 0 && r.e <= 0) continue;
      const double fast = std::max({0.0, l.e > 0 ? (l.v + c) / (1 + l.v * c) : -1.0,
                                    r.e > 0 ? (r.v + c) / (1 + r.v * c) : 1.0});
      const double slow = std::min({0.0, l.e > 0 ? (l.v - c) / (1 - l.v * c) : -1.0,
                                    r.e > 0 ? (r.v - c) / (1 - r.v * c) : 1.0});
      const auto face_flux = [&](double ul, double ur, double fl, double fr) {
        return (fast * fl - slow * fr + fast * slow * (ur - ul)) / (fast - slow);
      };
      flux_E[i] = face_flux(l.E(), r.E(), (l.E() + l.e / 3) * l.v, (r.E() + r.e / 3) * r.v);
      flux_M[i] = face_flux(l.M(), r.M(), l.M() * l.v + l.e / 3, r.M() * r.v + r.e / 3);
    }
    for (std::size_t i = 0; i < n; ++i) {
      const double a = face(i) * face(i), b = face(i + 1) * face(i + 1);
      const double volume = (std::pow(face(i + 1), 3) - std::pow(face(i), 3)) / 3;
      E_[i] -= dt / volume * (b * flux_E[i + 1] - a * flux_E[i]);
      M_[i] -= dt / volume * (b * flux_M[i + 1] - a * flux_M[i] - s[i].e / 3 * (b - a));
    }
    limit();
  }

  double dr_;
  std::vector<double> E_, M_;
};

}  // namespace vphi::testing
