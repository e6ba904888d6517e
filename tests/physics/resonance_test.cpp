// Floquet exponents of parametric resonance in V = lambda phi^4/4 + g^2 phi^2 chi^2/2, Minkowski.
//
// One mode of chi with a tiny amplitude on a homogeneous oscillating phi: chi grows as exp(mu x),
// x = sqrt(lambda) phi0 t, mu from Greene, Kofman, Linde and Starobinsky (hep-ph/9705347): 0.14699
// at q = 1, kappa^2 = 0.2285; 0.23590 at q = 2, kappa = 0. kappa^2 is the stencil's k_eff^2.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

struct Case {
  const char* name;
  double q, kappa2, mu;
};

class Floquet : public ::testing::TestWithParam<Case> {};

TEST_P(Floquet, GrowthRate) {
  const Case c = GetParam();
  // 7-point stencil, mode (1, 0, 0) on 16 sites: k_eff^2 = (2 - 2 cos(2 pi/16))/dx^2 = kappa^2
  const double dx =
      c.kappa2 > 0 ? std::sqrt((2 - 2 * std::cos(2 * std::numbers::pi / 16)) / c.kappa2) : 1.0;
  char numbers[256];
  std::snprintf(numbers, sizeof numbers, "param q = %.17g, step = %.17g, n = %d\n", c.q, dx,
                c.kappa2 > 0 ? 1 : 0);
  // fields of order 1e-12 stay far below back-reaction for the whole run
  const std::string model = std::string("model floquet \"resonance\"\n") + numbers +
                            R"(lattice box: 16^3, spacing = step, boundary = periodic
field phi, chi: real
potential V = phi^4/4 + q*phi^2*chi^2/2
init phi = 1, phi' = 0, chi = 1e-30*cos(2*pi*n*index(x)/16), chi' = 0
precision real = f64
evolve vv6, dt = 7.4162987092054877/64, until = t > 7.4162987092054877*24
every 64 steps: mean(chi^2), mean(chi'^2) -> "f.h5"
)";
  const auto result = testing::run_text(model, {});
  const auto* chi2 = result.find("mean(chi^2)");
  const auto* rate2 = result.find("mean(chi'^2)");
  ASSERT_TRUE(chi2 && rate2);
  // one point a period of phi: the periodic factor of the Floquet solution drops out
  const auto size = [&](std::size_t i) {
    return 0.5 * std::log(chi2->points[i].second + rate2->points[i].second);
  };
  const std::size_t first = 12, end = 23;
  const double mu =
      (size(end) - size(first)) / (chi2->points[end].first - chi2->points[first].first);
  EXPECT_NEAR(mu / c.mu, 1, 0.01) << "mu = " << mu;
}

INSTANTIATE_TEST_SUITE_P(Quartic, Floquet,
                         ::testing::Values(Case{"q1", 1, 0.2285, 0.14699},
                                           Case{"q2", 2, 0, 0.23590},
                                           Case{"q3", 3, 1.6145, 0.03598}),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace vphi
