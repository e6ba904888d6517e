// Plane waves of complex fields in boxes of 12 by 6 sites, with momenta that an end allows: they
// are eigenfunctions of the Laplacian, and leapfrog moves them with sin(omega dt/2) = omega_k dt/2.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/simulate.hpp"

namespace vphi::testing {

/// Native, and OpenCL where there is one.
inline std::vector<Simulation> native_and_opencl() {
  std::vector<Simulation> found(1);
  if (device("opencl")) found.emplace_back().device = "opencl";
  return found;
}

/// -dx^2 lap of a wave along one axis, of `lap` as it is without a clause and of the fourth order.
inline double second_order(double k) { return 4 * std::pow(std::sin(k / 2), 2); }
inline double fourth_order(double k) { return 2.5 - 8.0 / 3 * std::cos(k) + std::cos(2 * k) / 6; }

/// `box`: the lines of the lattice, with spacing = 0.5, and of the field phi. p and q: wave numbers
/// times dx along x and y. The wide stencil reads beyond an end from two rows.
inline void expect_waves(const std::string& box, double p, double q) {
  constexpr double dx = 0.5, dt = 0.1;
  for (const bool wide : {false, true}) {
    const auto symbol = wide ? fourth_order : second_order;
    const double k2 = (symbol(p) + symbol(q)) / (dx * dx);
    const double omega = 2 / dt * std::asin(dt / 2 * std::sqrt(k2));
    const std::string text = fmt::format(
        "model waves\n{}{}"
        "wave = exp(1i*({}*index(x) + {}*index(y)))\nphi'' = lap(phi)\ninit phi = wave, phi' = 0\n"
        "evolve leapfrog, dt = {}, until = t > 20\nevery 5 steps: own = max(abs(lap(phi) + "
        "{}*phi)), error = max(abs(phi - wave*cos({}*t))) -> \"w.h5\"\n",
        wide ? "laplacian = axis4\n" : "", box, exact(p), exact(q), dt, exact(k2), exact(omega));
    for (const Simulation& setup : native_and_opencl()) {
      const auto result = run_text(text, setup);
      EXPECT_LT(largest(result, "own"), 1e-12) << setup.device;
      EXPECT_LT(largest(result, "error"), 1e-11) << setup.device;
    }
  }
}

}  // namespace vphi::testing
