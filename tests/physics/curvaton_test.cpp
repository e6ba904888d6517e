// Delta N: e-folds to a slice of fixed H against the curvaton's start, on small lattices at once.
//
// Long before the resonance the curvaton is homogeneous, so the background equations
//   H^2 = (rho_r/a^4 + sigma'^2/2 + m^2 sigma^2/2)/3,  sigma'' = -3 H sigma' - m^2 sigma
// integrated here by the classical Runge-Kutta method give the e-folds; the fluctuations of the
// vacuum carry 1e-8 of the energy.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

double folds(double sigma0, double end) {
  const double m = 1e-8, radiation = 1e-20 / 4;
  using State = std::array<double, 3>;  // log a, sigma, sigma'
  const auto hubble = [&](const State& y) {
    const double rho = radiation * std::exp(-4 * y[0]) + y[2] * y[2] / 2 + m * m * y[1] * y[1] / 2;
    return std::sqrt(rho / 3);
  };
  const auto rate = [&](const State& y) {
    return State{hubble(y), y[2], -3 * hubble(y) * y[2] - m * m * y[1]};
  };
  const auto moved = [](const State& y, double h, const State& k) {
    return State{y[0] + h * k[0], y[1] + h * k[1], y[2] + h * k[2]};
  };
  State y{0, sigma0, 0};
  const double h = 1e-3 / m;
  while (true) {
    const State before = y;
    const State k1 = rate(y), k2 = rate(moved(y, h / 2, k1)), k3 = rate(moved(y, h / 2, k2)),
                k4 = rate(moved(y, h, k3));
    for (int i = 0; i < 3; ++i) y[i] += h / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]);
    if (hubble(y) >= end) continue;
    const double part = (hubble(before) - end) / (hubble(before) - hubble(y));
    return before[0] + part * (y[0] - before[0]);
  }
}

TEST(Curvaton, FoldsAgainstTheBackground) {
  testing::Simulation setup;
  setup.lattice = "8^3";
  setup.set = {{"Hend", "2.8e-3*m"}, {"sigma0", "[1.9e-4, 2.1e-4]"}, {"draw", "1..2"}};
  const auto r = testing::run_file(testing::shipped("cosmology/curvaton_folds"), setup);
  EXPECT_TRUE(r.all_expected());
  ASSERT_EQ(r.plots.size(), 1u);
  const auto& plot = r.plots[0];
  ASSERT_EQ(plot.x.size(), 2u);
  const double low = folds(1.9e-4, 2.8e-11), high = folds(2.1e-4, 2.8e-11);
  EXPECT_NEAR(plot.y[0], low, 1e-7);
  EXPECT_NEAR(plot.y[1], high, 1e-7);
  // the difference is what delta N is about: the same vacuum for both keeps it clean
  EXPECT_NEAR((plot.y[1] - plot.y[0]) / (high - low), 1, 1e-2);
}

}  // namespace
}  // namespace vphi
