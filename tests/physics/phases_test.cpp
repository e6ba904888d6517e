// Cahn and Hilliard's equation: growth of a single wave, and the free energy, which falls.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::last;
using testing::run_file;
using testing::run_text;
using testing::shipped;
using testing::Simulation;

// c = c0 + eps cos(k x) grows by K (1 - 3 c0^2 - K), K the eigenvalue of -lap.
TEST(Spinodal, AWaveGrowsByItsOwnRate) {
  const auto result = run_text(R"(model wave "one wave of a mixture"
param c0 = 0.1
lattice line: 32, spacing = 1, boundary = periodic
field c: real
mu = c^3 - c - lap(c)
c' = lap(mu)
wave = cos(2*pi*3*x/32)
init c = c0 + 1e-8*wave
evolve rk4, dt = 0.02, until = t > 19.99
precision real = f64
at end: t, f = 2e8*mean((c - c0)*wave) -> "w.h5"
)",
                               {});
  const double s = std::sin(3 * std::numbers::pi / 32), K = 4 * s * s;
  EXPECT_NEAR(std::log(last(result, "f")) / last(result, "t"), K * (1 - 0.03 - K), 1e-6);
}

TEST(Spinodal, TheFreeEnergyFalls) {
  Simulation setup;
  setup.lattice = "32^2", setup.until = "t > 60";
  const auto result = run_file(shipped("teaching/spinodal"), setup);
  const auto* energy = result.find("F");
  ASSERT_NE(energy, nullptr);
  ASSERT_GT(energy->points.size(), 10U);
  for (std::size_t i = 1; i < energy->points.size(); ++i)
    EXPECT_LT(energy->points[i].second, energy->points[i - 1].second) << i;
  for (const auto& promise : result.expectations) EXPECT_TRUE(promise.ok) << promise.text;
}

}  // namespace
}  // namespace vphi
