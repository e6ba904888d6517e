// Exact solution of the relativistic shock tube of an ideal gas, p = (G - 1)(e - rho), both sides
// at rest, the left one at higher pressure (Marti and Mueller, J. Fluid Mech. 258 (1994) 317 and
// Living Rev. Relativ. 6 (2003) 7). Nothing of the compiler is used.
//
//   shock       Taub: h2^2 - h1^2 = (h1/rho1 + h2/rho2)(p2 - p1), h = 1 + G/(G - 1) p/rho
//               j^2 = (p2 - p1)/(h1/rho1 - h2/rho2), V = j/sqrt(rho1^2 + j^2)
//   rarefaction (1 + v)/(1 - v) ((q + c)/(q - c))^(2/q) is constant, q = sqrt(G - 1), p ~ rho^G
#pragma once

#include <cmath>

namespace vphi::testing {

struct Gas {
  double rho = 0, p = 0, v = 0;
};

class GasTube {
 public:
  GasTube(double gamma, Gas left, Gas right) : g_(gamma), left_(left), right_(right) {
    double low = right.p, high = left.p;
    for (int i = 0; i < 200; ++i) {
      const double p = (low + high) / 2;
      (fan(p).v > behind_shock(p).v ? low : high) = p;
    }
    p_ = (low + high) / 2;
    head_ = -sound(left_);
    const Gas tail = fan(p_);
    tail_ = (tail.v - sound(tail)) / (1 - tail.v * sound(tail));
    shock_ = speed(p_);
  }
  double p() const { return p_; }
  double v() const { return fan(p_).v; }
  double rho_left() const { return fan(p_).rho; }
  double rho_right() const { return behind_shock(p_).rho; }
  double head() const { return head_; }
  double tail() const { return tail_; }
  double shock() const { return shock_; }

  Gas at(double xi) const {
    if (xi <= head_) return left_;
    if (xi >= shock_) return right_;
    if (xi > tail_) return xi < v() ? fan(p_) : behind_shock(p_);
    double low = p_, high = left_.p;
    for (int i = 0; i < 100; ++i) {
      const double p = (low + high) / 2;
      const Gas gas = fan(p);
      const double c = sound(gas);
      ((gas.v - c) / (1 - gas.v * c) > xi ? low : high) = p;
    }
    return fan((low + high) / 2);
  }

 private:
  double enthalpy(const Gas& s) const { return 1 + g_ / (g_ - 1) * s.p / s.rho; }
  double sound(const Gas& s) const { return std::sqrt(g_ * s.p / (s.rho * enthalpy(s))); }

  /// The left state expanded to the pressure p.
  Gas fan(double p) const {
    Gas s{left_.rho * std::pow(p / left_.p, 1 / g_), p, 0};
    const double q = std::sqrt(g_ - 1), c = sound(s), c0 = sound(left_);
    const double ratio = std::pow((q + c0) / (q - c0) * (q - c) / (q + c), 2 / q);
    s.v = (ratio - 1) / (ratio + 1);
    return s;
  }
  double enthalpy_behind(double p) const {
    const double h1 = enthalpy(right_), jump = p - right_.p, k = (g_ - 1) * jump / (g_ * p);
    const double a = 1 - k, b = k, c = -h1 / right_.rho * jump - h1 * h1;
    return (-b + std::sqrt(b * b - 4 * a * c)) / (2 * a);
  }
  double mass_flux(double p) const {
    const double h2 = enthalpy_behind(p), rho2 = g_ / (g_ - 1) * p / (h2 - 1);
    return std::sqrt((p - right_.p) / (enthalpy(right_) / right_.rho - h2 / rho2));
  }
  double speed(double p) const {
    const double j = mass_flux(p);
    return j / std::hypot(right_.rho, j);
  }
  Gas behind_shock(double p) const {
    const double h2 = enthalpy_behind(p), jump = p - right_.p, V = speed(p);
    const double W = 1 / std::sqrt(1 - V * V);
    const double v = W * jump / mass_flux(p) / (enthalpy(right_) + jump / right_.rho);
    return {g_ / (g_ - 1) * p / (h2 - 1), p, v};
  }

  double g_;
  Gas left_, right_;
  double p_, head_, tail_, shock_;
};

}  // namespace vphi::testing
