// Actions and forces of SU(3) on 4 x 2 x 6 x 4 against an independent program: Wilson and
// twisted-mass quarks, words of two links.
#include <gtest/gtest.h>

#include "tests/physics/gauge/fixed_quarks.hpp"

namespace vphi {
namespace {

struct QuarkRow {
  const char* name;
  const char* quark;
  testing::KnownForces forces;
};

constexpr const char* kPairsOfLinks =
    "psi - kappa*hop(psi) + c*sum("
    "(1 - (gamma[mu] + gamma[nu])/2)*path(mu, nu)*psi@mu@nu + "
    "(1 - (gamma[nu] - gamma[mu])/2)*path(-mu, nu)*psi@-mu@nu + "
    "(1 - (gamma[mu] - gamma[nu])/2)*path(mu, -nu)*psi@mu@-nu + "
    "(1 + (gamma[mu] + gamma[nu])/2)*path(-mu, -nu)*psi@-mu@-nu, mu != nu)";
const QuarkRow kQuarkRows[] = {
    {"wilson",
     "psi - kappa*hop(psi)",
     {2673.547476342968, 15772.6669004179, -107.9695793876, 0.2970359097, -0.2569816785}},
    {"twisted",
     "psi + 2i*kappa*mu_q*gamma5*psi - kappa*hop(psi)",
     {2623.988774848899, 13768.1393963924, -104.1264285889, 0.2031777842, -0.1614368917}},
    {"two_links",
     kPairsOfLinks,
     {2182.529329832067, 1721.8712588464, -6.8328653495, -0.0677425225, -0.1746039714}},
    {"clover",
     "psi + 2i*kappa*mu_q*gamma5*psi - kappa*hop(psi) - "
     "kappa*csw*sum(gamma[mu]*gamma[nu]*F[mu,nu]*psi, mu < nu)",
     {2958.594242672068, 45599.3249059611, 28.6627534826, 3.2982813277, -1.4526889747}},
};

/// The field strength of the four plaquettes around a site, and a clover term with it.
constexpr const char* kFieldStrength =
    "C[mu,nu] = loop(mu, nu, -mu, -nu) + loop(nu, -mu, -nu, mu) + loop(-mu, -nu, mu, nu) + "
    "loop(-nu, mu, nu, -mu)\n"
    "F[mu,nu] = (C[mu,nu] - adj(C[mu,nu]))/8\n";

class QuarkForces : public ::testing::TestWithParam<QuarkRow> {};

TEST_P(QuarkForces, AreThoseOfAnotherProgram) {
  const QuarkRow& row = GetParam();
  const std::string text =
      std::string(
          "model quarks\nparam kappa = 0.13, mu_q = 0.2, c = 0.01, csw = 1.5\n"
          "lattice grid: 4 * 2 * 6 * 4\ngauge U: SU(3)\n"
          "fermion psi: spinor, boundary(t) = antiperiodic\n"
          "hop(psi) = sum((1 - gamma[mu])*U[mu]*psi@mu, mu = directions(+,-))\n") +
      (row.name == std::string("clover") ? kFieldStrength : "") + "D(psi) = " + row.quark +
      "\naction quarks = pseudofermion(D, solver = cgne(1e-14))\n"
      "sample hmc, trajectories = 1, tau = 1 {\n  level quarks: steps = 1, scheme = leapfrog\n}\n"
      "init U ~ hot\nevery 1 trajectory: deltaH -> \"q.csv\"\n";
  testing::FixedQuarks quarks(text, 3, 4, 192, 0.7);
  testing::expect_forces(quarks, row.forces, true);
}

/// deltaH of a trajectory of three levels, Hasenbusch's splitting at odd sites, n and 2n steps.
TEST(QuarkTrajectories, AreThoseOfAnotherProgram) {
  const auto delta = [](int steps) {
    testing::FixedQuarks quarks(
        "model quarks\nparam kappa = 0.13, mu_q = 0.2, beta = 5.6\n"
        "lattice grid: 4 * 2 * 6 * 4\ngauge U: SU(3)\n"
        "fermion psi: spinor, boundary(t) = antiperiodic\n"
        "hop(psi) = sum((1 - gamma[mu])*U[mu]*psi@mu, mu = directions(+,-))\n"
        "D(psi) = psi + 2i*kappa*mu_q*gamma5*psi - kappa*hop(psi)\n"
        "action quarks = pseudofermion(D, solver = cg(1e-13), even_odd = on)/heavy\n"
        "action heavy = pseudofermion(D, mu_q = 0.6, solver = cg(1e-13), even_odd = on)\n"
        "action glue = beta*sum(1 - re(tr(loop(mu, nu, -mu, -nu)))/3, mu < nu)\n"
        "sample hmc, trajectories = 1, tau = 1 {\n  level quarks: steps = " +
            std::to_string(steps) +
            ", scheme = omelyan2\n  level heavy: steps = 1, scheme = omelyan2\n"
            "  level glue: steps = 2, scheme = omelyan2\n}\n"
            "init U ~ hot\nevery 1 trajectory: deltaH -> \"q.csv\"\n",
        3, 4, 192, 0.7);
    return quarks.trajectory({"quarks", "heavy"});
  };
  EXPECT_NEAR(delta(2), 0.1759008508, 1e-7);
  EXPECT_NEAR(delta(4), 0.0420807629, 1e-7);
}

INSTANTIATE_TEST_SUITE_P(Su3, QuarkForces, ::testing::ValuesIn(kQuarkRows),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace vphi
