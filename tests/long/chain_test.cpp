// SU(3) in four dimensions: larger boxes, rectangles, OpenCL (docs/formulas.md 2.7); larger groups.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

double plaquette(const std::string& model, const std::string& device, const std::string& lattice,
                 std::int64_t sweeps) {
  testing::Simulation setup;
  setup.device = device;
  setup.lattice = lattice;
  setup.steps = sweeps;
  return testing::last(testing::run_file(testing::shipped(model), setup), "average");
}

// Boyd et al., hep-lat/9602007: 0.593678(24) on 16^4.
TEST(LongChain, WilsonAtBetaSix) {
  EXPECT_NEAR(plaquette("gauge/su3", "native", "8^4", 120), 0.593678, 3e-3);
}

// An independent program, 4^4: 0.740650(228).
TEST(LongChain, SymanzikAtBetaSix) {
  EXPECT_NEAR(plaquette("gauge/su3_symanzik", "native", "4^4", 300), 0.740650, 3e-3);
}

struct Average {
  double value = 0, error = 0;
};

/// Plaquette with the tree-level Symanzik action on 4^4, by the `sample` line, eight chains.
Average symanzik(const std::string& beta, const std::string& sample, const std::string& every) {
  const auto result = testing::run_text(
      "model symanzik \"two ways\"\nparam beta = " + beta +
          "\nsweep chain = 1..8\nlattice grid: 4^4\ngauge U: SU(3), store = rows(2)\n"
          "P[mu,nu] = loop(mu, nu, -mu, -nu)\nR[mu,nu] = loop(2*mu, nu, -2*mu, -nu)\n"
          "u = mean(re(tr(P[mu,nu]))/3, mu < nu)\n"
          "action S_outer = -beta/36*sum(3 - re(tr(R[mu,nu])), mu != nu)\n"
          "action S_inner = 5/9*beta*sum(3 - re(tr(P[mu,nu])), mu < nu)\n" +
          sample + "\ninit U ~ cold\naverage = mean(u, over = [chain, time])\nevery " + every +
          ": average, width = error(average) -> \"s.csv\"\n",
      {});
  return {testing::last(result, "average"), testing::last(result, "width")};
}

// An independent program's heatbath has 0.353915(312) at beta = 3 and 0.740650(228) at 6 on 4^4.
TEST(LongChain, HeatbathAndTrajectoriesAgree) {
  struct Case {
    const char* beta;
    double plaquette, error;
  };
  for (const Case& c : {Case{"3", 0.353915, 0.000312}, Case{"6", 0.740650, 0.000228}}) {
    const Average heat = symanzik(c.beta, "sample heatbath, sweeps = 200, overrelax = 2",
                                  "200 sweeps, after = sweep > 40");
    const Average paths = symanzik(c.beta,
                                   "sample hmc, trajectories = 100, tau = 1 {\n"
                                   "  level S_outer: steps = 5, scheme = omelyan2\n"
                                   "  level S_inner: steps = 2, scheme = omelyan2\n}",
                                   "100 trajectories, after = trajectory > 20");
    for (const Average& a : {heat, paths}) {
      EXPECT_GT(a.error, 0);
      EXPECT_LT(a.error, 1e-3);
      EXPECT_NEAR(a.value, c.plaquette, 4 * std::hypot(a.error, c.error)) << c.beta;
    }
    EXPECT_NEAR(heat.value, paths.value, 4 * std::hypot(heat.error, paths.error)) << c.beta;
  }
}

// In two dimensions d(ln z)/d(beta), z = sum_n det I_(n+i-j)(beta/N), i and j from 1 to N.
TEST(LongChain, LargerGroupsInTwoDimensions) {
  struct Case {
    std::string n;
    double beta, plaquette;
  };
  const Case cases[] = {
      {"4", 12, 0.4296966569}, {"5", 22.5, 0.4889222149}, {"6", 30, 0.4444714168}};
  for (const Case& c : cases) {
    const auto result = testing::run_text(
        "model larger \"SU(n)\"\nsweep chain = 1..4\nlattice grid: 8^2\ngauge U: SU(" + c.n +
            ")\nP[mu,nu] = loop(mu, nu, -mu, -nu)\nu = mean(re(tr(P[mu,nu]))/" + c.n +
            ", mu < nu)\naction S = " + testing::exact(c.beta) + "/" + c.n + "*sum(" + c.n +
            " - re(tr(P[mu,nu])), mu < nu)\nsample heatbath, sweeps = 2000, overrelax = 1\n"
            "init U ~ hot\naverage = mean(u, over = [chain, time])\n"
            "every 2000 sweeps, after = sweep > 100: average, width = error(average) -> "
            "\"s.csv\"\n",
        {});
    const double width = testing::last(result, "width");
    EXPECT_GT(width, 0);
    EXPECT_LT(width, 1e-3);
    EXPECT_NEAR(testing::last(result, "average"), c.plaquette, 4 * width) << c.n;
  }
}

TEST(LongChain, WilsonOnOpenCl) {
  if (!testing::device("opencl")) GTEST_SKIP() << "no OpenCL here";
  EXPECT_NEAR(plaquette("gauge/su3", "opencl", "4^4", 120), 0.5945, 6e-3);
}

}  // namespace
}  // namespace vphi
