// A ball of fluid in vacuum at the resolution of the published runs: energy density in its centre
// as in the spherical solution of an independent code (HLLE, dr = 0.005 fm), symmetry, and totals.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/physics/fluids/riemann.hpp"
#include "tests/physics/fluids/spherical.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

/// Energy density in the fluid's own frame at each site of a run of the shipped model.
std::vector<double> densities(const runtime::RunResult& result) {
  std::vector<double> e;
  for (std::size_t i = 0; i < result.state[4].size(); ++i) {
    const double m = std::hypot(result.state[1][i], result.state[2][i], result.state[3][i]);
    e.push_back(testing::recovered(result.state[4][i], m, 0).e);
  }
  return e;
}

/// Distance from the spherical solution relative to it, whose means over cells are from 4^3 points.
double error_of(const std::vector<double>& e, const testing::Sphere& sphere, int n, double dx) {
  double wrong = 0, all = 0;
  constexpr int kPoints = 4;
  for (std::size_t i = 0; i < e.size(); ++i) {
    const auto w = static_cast<std::size_t>(n);
    const auto at = [&](std::size_t k, int point) {
      return (static_cast<double>(k % w) - 0.5 * n + (point + 0.5) / kPoints) * dx;
    };
    double exact = 0;
    for (int p = 0; p < kPoints * kPoints * kPoints; ++p) {
      const double x = at(i, p % kPoints), y = at(i / w, p / kPoints % kPoints),
                   z = at(i / w / w, p / kPoints / kPoints);
      exact += sphere.density(std::sqrt(x * x + y * y + z * z));
    }
    exact /= kPoints * kPoints * kPoints;
    wrong += std::abs(e[i] - exact), all += exact;
  }
  return wrong / all;
}

TEST(Ball, ErrorAgainstTheSphericalSolution) {
  testing::Sphere sphere(2, 1, 0.005, 7);
  sphere.advance(1.92);
  for (const char* precision : {"f64", "f32"}) {
    testing::Simulation setup;
    setup.steps = 24;
    setup.keep_state = true;
    setup.precision = precision;
    const auto result = testing::run_file(testing::shipped("hydro/ball"), setup);
    const auto e = densities(result);
    const double error = error_of(e, sphere, 48, 0.2);
    EXPECT_NEAR(error / 0.181, 1, 0.02) << precision << ": " << error;
    double axes = 0, mirror = 0;
    const auto at = [&](int x, int y, int z) {
      return e[static_cast<std::size_t>((z * 48 + y) * 48 + x)];
    };
    for (int z = 0; z < 48; ++z) {
      for (int y = 0; y < 48; ++y) {
        for (int x = 0; x < 48; ++x) {
          axes = std::max(
              {axes, std::abs(at(x, y, z) - at(y, x, z)), std::abs(at(x, y, z) - at(x, z, y))});
          mirror = std::max(mirror, std::abs(at(x, y, z) - at(47 - x, y, z)));
        }
      }
    }
    EXPECT_LT(axes, 1.2e-2) << precision;
    EXPECT_LT(mirror, precision[1] == '6' ? 1e-11 : 5e-3) << precision;
  }
}

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
