// The exact Gaussian Q-ball (docs/formulas.md 1.12) over 100 of its periods.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

TEST(Qball, HundredPeriods) {
  const double omega = std::sqrt(1.2), period = 2 * std::numbers::pi / omega;
  testing::Simulation setup;
  setup.lattice = "65^3";
  setup.until = "t > " + std::to_string(100 * period);
  setup.precision = "f64";
  const auto result = testing::run_file(testing::shipped("cosmology/qball"), setup);
  const auto* charge = result.find("total(Q)");
  ASSERT_TRUE(charge);
  EXPECT_GT(charge->points.back().first, 99.9 * period);
  // Q = w*2*(pi R^2/2)^(3/2) with R^2 = 20; the sum over sites of a Gaussian is its integral
  const double exact = omega * 2 * std::pow(std::numbers::pi * 10, 1.5);
  const double volume = std::pow(40.0 / 65, 3);
  EXPECT_NEAR(charge->points.front().second * volume / exact, 1, 1e-9);
  // bilinear: kept by every kick and drift; what is left is rounding of 1e4 steps
  for (const auto& [t, value] : charge->points) {
    EXPECT_NEAR(value / charge->points.front().second, 1, 2e-12) << "t = " << t;
  }
  // the 7-point Laplacian at dx = 0.6 makes the ball breathe by 3 %
  const auto* peak = result.find("max(norm2(phi))");
  ASSERT_TRUE(peak);
  for (const auto& [t, value] : peak->points) EXPECT_NEAR(value, 1, 0.05) << "t = " << t;
}

}  // namespace
}  // namespace vphi
