// The shipped model nmc_lphi4: its promise on a small lattice, and single waves of the field that
// couples to the curvature against the ordinary equations of the other field, the expansion, and
// one wave with the wave number of the lattice.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>
#include <string>

#include "tests/physics/gauge/changed_text.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::last;
using testing::put;
using testing::Simulation;

TEST(CurvaturePreheating, KeepsItsPromise) {
  Simulation setup;
  setup.lattice = "8^3";
  setup.steps = 600;
  const auto result = testing::run_file(testing::shipped("cosmology/nmc_lphi4"), setup);
  ASSERT_EQ(result.expectations.size(), 1U);
  EXPECT_TRUE(result.expectations[0].ok) << result.expectations[0].value;
}

/// phi, phi', a, chi, chi' in cosmic time: chi too small to act on anything, R = 4 V - phi'^2.
using State = std::array<long double, 5>;

State rate_of(const State& y, long double k) {
  const long double lambda = 9e-14L, xi = 100;
  const long double v = lambda * y[0] * y[0] * y[0] * y[0] / 4;
  const long double h = std::sqrt((y[1] * y[1] / 2 + v) / 3), r = 4 * v - y[1] * y[1];
  return {y[1], -3 * h * y[1] - lambda * y[0] * y[0] * y[0], h * y[2], y[4],
          -3 * h * y[4] - (k * k / (y[2] * y[2]) + xi * r) * y[3]};
}

// xi = 100: R oscillates and is below 0 wherever phi'^2 > 4 V.
TEST(CurvaturePreheating, AWaveGrowsAsTheCurvatureSays) {
  std::string text = testing::text_of_shipped("cosmology/nmc_lphi4");
  put(text, "init phi ~ phi0 + vacuum, phi' ~ dphi0 + vacuum", "init phi = phi0, phi' = dphi0");
  put(text, "init chi ~ vacuum", "init chi = 1e-12*cos(2*pi*index(x)/8), chi' = 0");
  put(text, "at end: spectrum(phi, chi)",
      "at end: now = t, wave = 2e12*mean(chi*cos(2*pi*index(x)/8)), size = a, phi_now = mean(phi)");
  Simulation setup;
  setup.lattice = "8^3";
  setup.steps = 500;
  const auto result = testing::run_text(text, setup);

  const long double phi0 = 2.3393838L, unit = std::sqrt(9e-14L) * phi0;
  const long double dx = 2 * std::numbers::pi_v<long double> / (0.7L * unit) / 8;
  const long double k = 2 / dx * std::sin(std::numbers::pi_v<long double> / 8);
  State y{phi0, -8.2090829e-07L, 1, 1, 0};
  constexpr int kSteps = 100000;
  const long double h = static_cast<long double>(last(result, "now")) / kSteps;
  const auto along = [&](const State& rate, long double by) {
    State z = y;
    for (std::size_t i = 0; i < z.size(); ++i) z[i] += by * rate[i];
    return z;
  };
  for (int step = 0; step < kSteps; ++step) {
    const State a = rate_of(y, k), b = rate_of(along(a, h / 2), k), c = rate_of(along(b, h / 2), k),
                d = rate_of(along(c, h), k);
    for (std::size_t i = 0; i < y.size(); ++i) y[i] += h / 6 * (a[i] + 2 * b[i] + 2 * c[i] + d[i]);
  }
  EXPECT_NEAR(last(result, "size") / static_cast<double>(y[2]), 1, 1e-8);
  EXPECT_NEAR(last(result, "phi_now") / static_cast<double>(y[0]), 1, 1e-6);
  EXPECT_GT(std::fabs(y[3]), 30) << "it does not grow";
  EXPECT_NEAR(last(result, "wave") / static_cast<double>(y[3]), 1, 1e-5);
}

}  // namespace
}  // namespace vphi
