// A ball of fluid in vacuum at the resolution of the published runs: energy density in its centre as
// in the spherical solution of an independent code (HLLE, dr = 0.005 fm), symmetry, and totals.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

TEST(Ball, CentreAndAxesAtTheResolutionOfTheLiterature) {
  testing::Simulation setup;
  setup.steps = 24;
  setup.keep_state = true;
  const auto result = testing::run_file(testing::shipped("hydro/ball"), setup);
  const auto& E = result.state.at(4);
  const auto& N = result.state.at(0);
  const auto at = [&](int x, int y, int z) {
    return static_cast<std::size_t>((z * 48 + y) * 48 + x);
  };
  EXPECT_NEAR(testing::last(result, "centre"), 0.9915, 0.001);
  double mirror = 0, axes = 0, energy = 0, baryons = 0, start = 0;
  for (int z = 0; z < 48; ++z) {
    for (int y = 0; y < 48; ++y) {
      for (int x = 0; x < 48; ++x) {
        mirror = std::max(mirror, std::abs(E[at(x, y, z)] - E[at(47 - x, y, z)]));
        axes = std::max(axes, std::abs(E[at(x, y, z)] - E[at(y, x, z)]));
        energy += E[at(x, y, z)], baryons += N[at(x, y, z)];
      }
    }
  }
  start = result.find("total(E)")->points.front().second;
  EXPECT_NEAR(energy / start, 1, 1e-10);
  EXPECT_NEAR(baryons / start, 1, 1e-6);
  EXPECT_LT(mirror, 1e-11);
  EXPECT_LT(axes, 0.06);
}

}  // namespace
}  // namespace vphi
