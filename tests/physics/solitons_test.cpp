// Charged solitons: the exact Gaussian Q-ball of the logarithmic potential (closed form), its
// charge and energy, and the breather of the sine-Gordon equation.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::last;
using testing::run_file;
using testing::shipped;
using testing::Simulation;

// m = 1, K = -0.1, M = 1: R^2 = 2/(|K| m^2), I = int f^2 = 2 (pi R^2/2)^(3/2) with phi0^2 = 2,
// Q = w I, w^2 = m^2 (1 + 2|K|): R = 4.4721, I = 352.17, Q = 385.78, E = 440.21.
TEST(Qball, ChargeEnergyAndShape) {
  Simulation setup;
  setup.lattice = "65^3";
  setup.until = "t > 30/m";
  setup.precision = "f64";
  const auto result = run_file(shipped("cosmology/qball"), setup);
  const double r2 = 20, omega = std::sqrt(1.2);
  const double integral = 2 * std::pow(std::numbers::pi * r2 / 2, 1.5);
  const double charge = omega * integral;
  const auto* q = result.find("total(Q)");
  ASSERT_TRUE(q);
  const double dx3 = std::pow(40.0 / 65, 3);
  double largest = 0;
  for (const auto& [t, value] : q->points)
    largest = std::max(largest, std::abs(value / q->points.front().second - 1));
  EXPECT_LT(largest, 1e-12) << "charge is bilinear: kick and drift keep it to round-off";
  // the sum over sites of a Gaussian is its integral to far below 1e-9 at this spacing
  EXPECT_NEAR(q->points.front().second * dx3 / charge, 1, 1e-9);
  // stationary but for the error of the 7-point Laplacian at dx = 0.6: 3 %, a quarter of it at
  // 128^3
  const auto* peak = result.find("max(norm2(phi))");
  ASSERT_TRUE(peak);
  for (const auto& [t, value] : peak->points) EXPECT_NEAR(value, 1, 0.035) << "t = " << t;
}

TEST(SineGordon, BreatherFollowsTheExactSolution) {
  const auto result = run_file(shipped("teaching/sine_gordon"), {});
  EXPECT_LT(last(result, "max(abs(u - exact))"), 1e-8);
  for (const auto& promise : result.expectations) EXPECT_TRUE(promise.ok) << promise.text;
}

}  // namespace
}  // namespace vphi
