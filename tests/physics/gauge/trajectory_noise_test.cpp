// Spinors of noise that each trajectory draws anew: their moments, closed lines of quarks against
// columns of the propagator, devices, and what stays as it is.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

/// Links that hardly move about 1, so that averages of one trajectory are those of all.
std::string noise_model(const std::string& start, const std::string& outputs, int trajectories = 60,
                        const std::string& lines = {}) {
  return "model noise\nparam kappa = 0.2, mu_q = 0.5\n" + lines +
         "lattice grid: 4^2\ngauge U: U(1)\n"
         "fermion psi: spinor(2), boundary(y) = antiperiodic\n"
         "D(psi) = psi + 2i*kappa*mu_q*gamma5*psi - kappa*sum((1 - gamma[mu])*U[mu]*psi@mu, mu = "
         "directions(+,-))\n"
         "action glue = sum(1 - re(loop(mu, nu, -mu, -nu)), mu < nu)\n"
         "sample hmc, trajectories = " +
         std::to_string(trajectories) +
         ", tau = 1e-9 {\n  level glue: steps = 1, scheme = leapfrog\n}\ninit U ~ cold\ninit psi" +
         start + "\nchi = solve(D, psi, solver = cgne(1e-10))\n" + outputs;
}

/// im tr(gamma5 D^-1) at a site: (psi, A psi)/2 on average where each component has <|psi|^2> = 2.
TEST(TrajectoryNoise, ClosedLines) {
  if (!testing::device("native")) GTEST_SKIP() << "no native device";
  const std::string outputs =
      "line = mean(im(dot(psi, gamma5*chi))/2)\n"
      "here = index(x) + index(y) == 0\n"
      "S[s,c] = solve(D, here*spinor(s, c), solver = cgne(1e-12))\n"
      "exact = sum(total(here*im(dot(spinor(s, c), gamma5*S[s,c]))), s, c)\n"
      "every 1 trajectory: line, size = mean(norm2(psi)) -> \"a.csv\"\n"
      "every 60 trajectories: one = mean(exact, over = chain) -> \"c.csv\"\n";
  const auto result =
      testing::run_text(noise_model(" ~ normal", outputs, 60, "sweep chain = 1..32\n"), {});
  const double one = testing::last(result, "one");
  EXPECT_GT(std::abs(one), 0.05);
  int seen = 0;
  for (const runtime::ChainSeries& series : result.chain) {
    const double mean = series.average.mean, error = series.average.error;
    if (series.name == "line") {
      EXPECT_NEAR(mean, one, 4 * error);
      EXPECT_LT(error, 0.05 * std::abs(one));
    } else if (series.name == "size") {
      EXPECT_NEAR(mean, 4, 4 * error);
      // of 32 chains, 60 trajectories, 16 sites with a variance of 8: all independent
      EXPECT_NEAR(error, std::sqrt(8.0 / (16 * 32 * 60)), 0.5 * error);
    } else {
      continue;
    }
    ++seen;
  }
  EXPECT_EQ(seen, 2);
}

/// The same numbers on other devices; no two trajectories have the same.
TEST(TrajectoryNoise, IsOfTheTrajectory) {
  if (!testing::device("native")) GTEST_SKIP() << "no native device";
  const std::string outputs = "every 1 trajectory: n = mean(norm2(psi)) -> \"n.csv\"\n";
  testing::Simulation setup;
  const auto native = testing::run_text(noise_model(" ~ normal", outputs, 3), setup);
  const auto* n = native.find("n");
  ASSERT_TRUE(n);
  for (std::size_t i = 1; i < n->points.size(); ++i)
    EXPECT_GT(std::abs(n->points[i].second - n->points[i - 1].second), 1e-3);
  if (!testing::device("opencl")) return;
  setup.device = "opencl";
  const auto opencl = testing::run_text(noise_model(" ~ normal", outputs, 3), setup);
  EXPECT_NEAR(testing::last(opencl, "n"), testing::last(native, "n"), 1e-12);
}

/// A spinor that is given stays; it is the source of a solve along the chain.
TEST(TrajectoryNoise, OtherSpinorsStay) {
  if (!testing::device("native")) GTEST_SKIP() << "no native device";
  const auto result =
      testing::run_text(noise_model("[s, c] = (s == 0)*(index(x) + 1)",
                                    "every 1 trajectory: n = total(norm2(psi)) -> \"n.csv\"\n", 3),
                        {});
  const auto* n = result.find("n");
  ASSERT_TRUE(n);
  ASSERT_GE(n->points.size(), 3U);
  for (const auto& [t, value] : n->points) EXPECT_NEAR(value, 4 * 30, 1e-12);
}

}  // namespace
}  // namespace vphi
