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

/// Twisted-mass quarks with a clover term at odd sites: S and -2 log|det R| at even sites apart,
/// and the forces of both (those of the links alone with phi = 0).
TEST(QuarkHalves, OfALocalPartWithLinks) {
  testing::FixedQuarks quarks(
      std::string("model quarks\nparam kappa = 0.13, mu_q = 0.2, csw = 1.5\n"
                  "lattice grid: 4 * 2 * 6 * 4\ngauge U: SU(3)\n"
                  "fermion psi: spinor, boundary(t) = antiperiodic\n"
                  "hop(psi) = sum((1 - gamma[mu])*U[mu]*psi@mu, mu = directions(+,-))\n") +
          kFieldStrength +
          "D(psi) = psi + 2i*kappa*mu_q*gamma5*psi - kappa*hop(psi) - "
          "kappa*csw*sum(gamma[mu]*gamma[nu]*F[mu,nu]*psi, mu < nu)\n"
          "action quarks = pseudofermion(D, solver = cgne(1e-14), even_odd = on)\n"
          "sample hmc, trajectories = 1, tau = 1 {\n  level quarks: steps = 1, scheme = "
          "leapfrog\n}\ninit U ~ hot\nevery 1 trajectory: deltaH -> \"q.csv\"\n",
      3, 4, 192, 0.7);
  quarks.at_odd_sites({4, 2, 6, 4});
  EXPECT_NEAR(quarks.action(), 1051.110300049565, 1e-6);
  EXPECT_NEAR(-2 * quarks.logarithm(), 13.280034855056, 1e-9);
  const std::vector<double> both = quarks.slopes();
  quarks.without_fields();
  EXPECT_EQ(quarks.action(), 0);
  const std::vector<double> links = quarks.slopes();
  std::vector<double> fields;
  for (std::size_t i = 0; i < both.size(); ++i) fields.push_back(both[i] - links[i]);
  const auto expect = [&](const std::vector<double>& slopes, const testing::KnownForces& known) {
    testing::expect_slopes(quarks, slopes, known, 1e-9, true);
  };
  expect(fields, {0, 3197.1767728298, 70.7755263494, 1.3997683146, 0.1241660347});
  expect(links, {0, 3.2798564304, 0.7984692431, 0.0382752567, 0.0057559193});
}

/// deltaH of a trajectory of plaquettes and twisted-mass quarks; `fields`: names of the actions of
/// quarks.
double delta_of(const std::string& actions, const std::string& levels,
                const std::vector<std::string>& fields) {
  testing::FixedQuarks quarks(
      "model quarks\nparam kappa = 0.13, mu_q = 0.2, beta = 5.6\n"
      "lattice grid: 4 * 2 * 6 * 4\ngauge U: SU(3)\n"
      "fermion psi: spinor, boundary(t) = antiperiodic\n"
      "hop(psi) = sum((1 - gamma[mu])*U[mu]*psi@mu, mu = directions(+,-))\n"
      "D(psi) = psi + 2i*kappa*mu_q*gamma5*psi - kappa*hop(psi)\n" +
          actions +
          "action glue = beta*sum(1 - re(tr(loop(mu, nu, -mu, -nu)))/3, mu < nu)\n"
          "sample hmc, trajectories = 1, tau = 1 {\n" +
          levels + "}\ninit U ~ hot\nevery 1 trajectory: deltaH -> \"q.csv\"\n",
      3, 4, 192, 0.7);
  return quarks.trajectory(fields);
}

/// Three levels, Hasenbusch's splitting at odd sites, n and 2n steps.
TEST(QuarkTrajectories, AreThoseOfAnotherProgram) {
  const auto delta = [](int steps) {
    return delta_of(
        "action quarks = pseudofermion(D, solver = cg(1e-13), even_odd = on)/heavy\n"
        "action heavy = pseudofermion(D, mu_q = 0.6, solver = cg(1e-13), even_odd = on)\n",
        "level quarks: steps = " + std::to_string(steps) +
            ", scheme = omelyan2\nlevel heavy: steps = 1, scheme = omelyan2\n"
            "level glue: steps = 2, scheme = omelyan2\n",
        {"quarks", "heavy"});
  };
  EXPECT_NEAR(delta(2), 0.1759008508, 1e-7);
  EXPECT_NEAR(delta(4), 0.0420807629, 1e-7);
}

/// Quarks at odd sites and plaquettes on one level.
TEST(QuarkTrajectories, OfOneLevelAreThoseOfAnotherProgram) {
  const auto delta = [](int steps) {
    return delta_of(
        "action quarks = pseudofermion(D, solver = cg(1e-14), even_odd = on)\n",
        "level quarks, glue: steps = " + std::to_string(steps) + ", scheme = omelyan2\n",
        {"quarks"});
  };
  EXPECT_NEAR(delta(4), 3.3102156311, 1e-8);
  EXPECT_NEAR(delta(8), 0.7724111644, 1e-8);
  EXPECT_NEAR(delta(16), 0.1899233695, 1e-8);
}

INSTANTIATE_TEST_SUITE_P(Su3, QuarkForces, ::testing::ValuesIn(kQuarkRows),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace vphi
