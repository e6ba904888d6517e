// The quasi-stationary state of the mean-field model for a long time, and its end: its lifetime
// grows as N^1.7 (Yamaguchi et al., Physica A 337 (2004) 36; docs/formulas.md 6.6).
#include <gtest/gtest.h>

#include <string>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

struct Window {
  double temperature, magnetisation;
};

/// Means over the last tenth of a run from a water bag of U = 0.69.
Window late(int n, int end) {
  const auto r = testing::run_text(
      "model qss\nparam N = " + std::to_string(n) +
          "\nparticles body: N\nvar theta[k]: angle, p[k]: real\n"
          "H = sum(p[k]^2/2, k) + sum(1 - cos(theta[k] - theta[l]), k, l)/(2*N)\n"
          "init theta ~ uniform(0, 2*pi), p ~ waterbag(sqrt(6*(0.69 - 0.5)))\n"
          "evolve yoshida4, dt = 0.2, until = t > " +
          std::to_string(end) +
          " - 0.1\nM = sqrt(mean(cos(theta))^2 + mean(sin(theta))^2)\nevery " +
          std::to_string(5 * end) + " steps, after = t > 0.9*" + std::to_string(end) +
          ": T = mean(2*kinetic/N, over = time), M = mean(M, over = time) -> \"q.h5\"\n"
          "expect drift(H) < 1e-4\n",
      {});
  EXPECT_TRUE(r.all_expected());
  return {testing::last(r, "T"), testing::last(r, "M")};
}

TEST(Qss, ManyBodiesStay) {
  const Window w = late(50000, 1000);
  EXPECT_NEAR(w.temperature, 0.38, 0.01);
  EXPECT_LT(w.magnetisation, 0.1);
}

/// Few bodies reach the equilibrium T = 0.4754, M = 0.3088; of 200 the energy itself is drawn.
TEST(Qss, FewBodiesRelax) {
  const Window w = late(200, 40000);
  EXPECT_NEAR(w.temperature, 0.4754, 0.05);
  EXPECT_NEAR(w.magnetisation, 0.3088, 0.1);
}

}  // namespace
}  // namespace vphi
