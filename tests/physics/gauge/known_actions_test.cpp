// Numbers of an independent program on the fixed configuration (fixed_quarks.hpp): actions and
// forces of loops, staggered quarks with fields at even sites, deltaH and final links of
// trajectories; the configuration itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "tests/physics/gauge/fixed_quarks.hpp"

namespace vphi {
namespace {

using testing::FixedQuarks;
using testing::KnownForces;

/// `constants`: the numbers of a site's density, which H leaves out because no force has them.
/// SU(3) on 4 x 2 x 6 x 4: S, the squares of the slopes, the slope along the momenta, two slopes.
void expect_loops(const std::string& action, double constants, const KnownForces& known) {
  SCOPED_TRACE(action);
  FixedQuarks links(
      "model loops\nlattice grid: 4 * 2 * 6 * 4\ngauge U: SU(3)\n"
      "P[mu,nu] = loop(mu, nu, -mu, -nu)\nR[mu,nu] = loop(2*mu, nu, -2*mu, -nu)\n"
      "action quarks = " +
          action +
          "\nsample hmc, trajectories = 1, tau = 1 {\n  level quarks: steps = 1, scheme = "
          "leapfrog\n}\ninit U ~ hot\nevery 1 trajectory: deltaH -> \"q.csv\"\n",
      3, 4, 192, 0.7, 0);
  EXPECT_NEAR(links.energy() + 192 * constants, known.s, 1e-9 * known.s);
  expect_slopes(links, links.slopes(), known, 1e-9, true);
}

TEST(KnownActions, LoopsOfSu3) {
  expect_loops("6*sum(1 - re(tr(P[mu,nu]))/3, mu < nu)", 6 * 6,
               {2467.985656547168, 27665.5358747685, -85.9604582480, -0.7688603513, 1.0550577329});
  expect_loops(
      "3.9/3*(5/3*sum(3 - re(tr(P[mu,nu])), mu < nu) - sum(3 - re(tr(R[mu,nu])), mu != nu)/12)",
      3.9 * (5.0 / 3 * 6 - 12.0 / 12),
      {2330.145625029040, 26819.1638084022, -89.0949842418, -1.1942702868, 1.1127125237});
  expect_loops(
      "2.6/3*((1 + 8*0.331)*sum(3 - re(tr(P[mu,nu])), mu < nu) - "
      "0.331*sum(3 - re(tr(R[mu,nu])), mu != nu))",
      2.6 * ((1 + 8 * 0.331) * 6 - 0.331 * 12),
      {2991.789154198351, 48872.9245819094, -125.2179094433, -2.1722381016, 1.5876890772});
}

/// Staggered quarks with phi at even sites: <phi, (D D^+)^-p phi> of D at all sites is that of the
/// half, because D D^+ does not join the parities.
TEST(KnownActions, StaggeredQuarksAtEvenSites) {
  struct Row {
    std::string options, power;
    KnownForces known;
  };
  const std::string fractions = "solver = multishift(1e-14), range = [0.09, 4.3], tol = 1e-13";
  for (const Row& row :
       {Row{"solver = cg(1e-14)",
            "",
            {278.765449550709, 4729.6372640793, -8.5626691638, 0.4600509148, 0.9779727342}},
        Row{fractions,
            "^(1/2)",
            {205.538486278125, 355.2371930324, 1.1497472428, 0.1225467027, 0.2202458574}},
        Row{fractions,
            "^(1/4)",
            {196.257538742537, 59.3511770551, 0.7078197603, 0.0438720525, 0.0708531564}}}) {
    SCOPED_TRACE(row.power);
    FixedQuarks quarks(
        "model quarks\nlattice grid: 4 * 2 * 6 * 4\ngauge U: SU(3)\n"
        "fermion psi: spinor(1), boundary(t) = antiperiodic\n"
        "turn(n) = 1 - 2*mod(n, 2)\n"
        "eta[k] = 1 if k == x else (turn(index(x)) if k == y else (turn(index(x) + index(y)) if k "
        "== z else turn(index(x) + index(y) + index(z))))\n"
        "D(psi) = psi/5 + sum(eta[k]*(U[k]*psi@k - U[-k]*psi@-k), k)/2\n"
        "action quarks = pseudofermion(D, " +
            row.options + ")" + row.power +
            "\nsample hmc, trajectories = 1, tau = 1 {\n  level quarks: steps = 1, scheme = "
            "leapfrog\n}\ninit U ~ hot\nevery 1 trajectory: deltaH -> \"q.csv\"\n",
        3, 4, 192, 0.7, 1);
    quarks.at_even_sites({4, 2, 6, 4});
    testing::expect_forces(quarks, row.known, true);
  }
}

/// Links, momenta and fields are those of the independent program.
TEST(KnownActions, TheConfiguration) {
  for (const auto& [n, number] : {std::pair{1U, -0.3648022753186524},
                                  {2U, -0.6175304623320699},
                                  {3U, 0.046408194582909346},
                                  {4U, -0.7139679766260087}})
    EXPECT_NEAR(testing::hashed(n), number, 1e-15);
  FixedQuarks quarks(
      "model quarks\nlattice grid: 4 * 2 * 6 * 4\ngauge U: SU(3)\n"
      "fermion psi: spinor, boundary(t) = antiperiodic\n"
      "D(psi) = psi - 0.13*sum((1 - gamma[mu])*U[mu]*psi@mu, mu = directions(+,-))\n"
      "action quarks = pseudofermion(D)\n"
      "sample hmc, trajectories = 1, tau = 1 {\n  level quarks: steps = 1, scheme = "
      "leapfrog\n}\ninit U ~ hot\nevery 1 trajectory: deltaH -> \"q.csv\"\n",
      3, 4, 192, 0.7);
  const int last = 1 + 4 * 2 * (2 + 6 * 3);  // x = 1, y = 0, z = 2, t = 3
  const auto near = [](testing::C a, testing::C b) { EXPECT_LT(std::abs(a - b), 1e-14); };
  near(quarks.entry(0, 0, 0, 0), {0.915025867760661, -0.076025304407965});
  near(quarks.entry(last, 3, 2, 1), {-0.242123216856355, -0.351241434568571});
  EXPECT_NEAR(quarks.plaquette({4, 2, 6, 4}), 0.642941889967134, 1e-14);
  double kinetic = 0;
  for (std::size_t i = 0; i < quarks.momenta(); ++i)
    kinetic += quarks.momentum(i) * quarks.momentum(i) / 2;
  EXPECT_NEAR(kinetic, 3086.305868009236, 1e-9);
  EXPECT_NEAR(quarks.squared_field(), 1561.955284863147, 1e-9);
}

TEST(KnownActions, PlaquettesOfPlanes) {
  const auto plaquette = [](const std::string& gauge, const std::string& lattice, int colours,
                            const std::vector<int>& extent, double scale) {
    FixedQuarks links("model loops\nlattice grid: " + lattice + "\ngauge U: " + gauge +
                          "\naction quarks = sum(1 - re(tr(loop(mu, nu, -mu, -nu))), mu < nu)\n"
                          "sample hmc, trajectories = 1, tau = 1 {\n  level quarks: steps = 1, "
                          "scheme = leapfrog\n}\ninit U ~ hot\nevery 1 trajectory: deltaH -> "
                          "\"q.csv\"\n",
                      colours, 2, extent[0] * extent[1], scale, 0);
    links.energy();
    return links.plaquette(extent);
  };
  EXPECT_NEAR(plaquette("U(1)", "4^2", 1, {4, 4}, 1.5), 0.145096183055, 1e-11);
  EXPECT_NEAR(plaquette("SU(2)", "4 * 6", 2, {4, 6}, 1.2), 0.541755410965, 1e-11);
}

/// U(1) on 4^2, beta = 2, Wilson quarks of two components, tau = 1: loops and quarks are kicked
/// together.
TEST(KnownActions, DeltaHOfTrajectories) {
  struct After {
    double delta, plaquette;  ///< of the last links, before they are taken or not
  };
  const auto run = [](const std::string& options, const std::string& scheme, int steps) {
    FixedQuarks quarks(
        "model quarks\nparam kappa = 0.24\nlattice grid: 4^2\ngauge U: U(1)\n"
        "fermion psi: spinor(2), boundary(y) = antiperiodic\n"
        "D(psi) = psi - kappa*sum((1 - gamma[mu])*U[mu]*psi@mu, mu = directions(+,-))\n"
        "action quarks = pseudofermion(D, solver = cg(1e-14)" +
            options +
            ")\naction glue = 2*sum(1 - re(loop(mu, nu, -mu, -nu)), mu < nu)\n"
            "sample hmc, trajectories = 1, tau = 1 {\n  level quarks, glue: steps = " +
            std::to_string(steps) + ", scheme = " + scheme +
            "\n}\ninit U ~ hot\nevery 1 trajectory: deltaH -> \"q.csv\"\n",
        1, 2, 16, 1.5, 2);
    const double action = options.empty() ? 33.4965010222 : 19.6084833889;
    if (!options.empty()) quarks.at_odd_sites({4, 4});
    const double delta = quarks.trajectory({"quarks"});
    EXPECT_NEAR(quarks.squared_eta({"quarks"}), action, 1e-9);
    return After{delta, quarks.plaquette({4, 4})};
  };
  struct Row {
    const char *options, *scheme;
    double known[3];
    double plaquette;  ///< after 32 steps
  };
  const char *all = "", *odd = ", even_odd = on";
  const Row rows[] = {
      {all, "leapfrog", {0.0689234535, 0.0162466326, 0.0040014052}, 0.4686010790},
      {all, "omelyan2", {-0.0202576861, -0.0047804519, -0.0011778605}, 0.4685805916},
      {all, "yoshida4", {0.0130779839, 0.0008980917, 0.0000572834}, 0.4685715822},
      {odd, "leapfrog", {-0.2311269011, -0.0577672164, -0.0144415998}, 0.5626088089},
      {odd, "omelyan2", {-0.0236068233, -0.0059842093, -0.0015007186}, 0.5626070065},
      {odd, "yoshida4", {0.0151184500, 0.0009850341, 0.0000620673}, 0.5625850501},
  };
  for (const Row& row : rows)
    for (int i = 0; i < 3; ++i) {
      SCOPED_TRACE(row.scheme + std::string(row.options) + ", steps: " + std::to_string(8 << i));
      const After after = run(row.options, row.scheme, 8 << i);
      EXPECT_NEAR(after.delta, row.known[i], 1e-8);
      if (i == 2) {
        EXPECT_NEAR(after.plaquette, row.plaquette, 1e-9);
      }
    }
}

/// S, the square of the force and deltaH of quarks on links of any gauge: all sites and odd ones
/// with a clover term, a power, smeared links.
TEST(KnownActions, QuarksInAnyGauge) {
  const std::string hop = "hop(psi) = sum((1 - gamma[mu])*U[mu]*psi@mu, mu = directions(+,-))\n";
  const std::string clover =
      hop +
      "C[mu,nu] = loop(mu, nu, -mu, -nu) + loop(nu, -mu, -nu, mu) + loop(-mu, -nu, mu, nu) + "
      "loop(-nu, mu, nu, -mu)\nF[mu,nu] = (C[mu,nu] - adj(C[mu,nu]))/8\n"
      "D(psi) = psi - 0.12*hop(psi) - 0.12*sum(gamma[mu]*gamma[nu]*F[mu,nu]*psi, mu < nu)\n";
  const std::string smeared =
      "B = 2*sum(1 - re(tr(loop(mu, nu, -mu, -nu))), mu < nu)\nV[mu] = exp(-0.1*d(B, "
      "U[mu]))*U[mu]\nD(psi) = psi - 0.12*sum((1 - gamma[mu])*V[mu]*psi@mu, mu = "
      "directions(+,-))\n";
  const std::pair<std::string, std::string> all[] = {
      {clover, "pseudofermion(D, solver = cg(1e-15))"},
      {clover, "pseudofermion(D, solver = cg(1e-15), even_odd = on)"},
      {clover, "pseudofermion(D, solver = multishift(1e-15), range = [0.05, 4], tol = 1e-6)^(1/2)"},
      {smeared, "pseudofermion(D, solver = cg(1e-15))"}};
  for (const auto& [quark, action] : all) {
    SCOPED_TRACE(quark + action);
    const std::string text =
        "model turned\nlattice grid: 4 * 2\ngauge U: SU(2)\nfermion psi: spinor(2)\n" + quark +
        "action quarks = " + action +
        "\nsample hmc, trajectories = 1, tau = 0.5 {\n  level quarks: steps = 2, scheme = "
        "leapfrog\n}\ninit U ~ hot\nevery 1 trajectory: deltaH -> \"q.csv\"\n";
    const bool halves = action.find("even_odd") != std::string::npos;
    const auto measured = [&](bool turned) {
      testing::FixedQuarks quarks(text, 2, 2, 8, 0.8, 2);
      if (halves) quarks.at_odd_sites({4, 2});
      if (turned) quarks.transform({4, 2});
      double squares = 0;
      const double s = quarks.action();
      for (const double slope : quarks.slopes()) squares += slope * slope;
      return std::array{s, squares, quarks.trajectory({"quarks"})};
    };
    const auto plain = measured(false), turned = measured(true);
    EXPECT_GT(std::abs(plain[2]), 1e-4);
    for (std::size_t i = 0; i < plain.size(); ++i)
      EXPECT_NEAR(turned[i], plain[i], 1e-11 * std::max(1.0, plain[0])) << i;
  }
}

}  // namespace
}  // namespace vphi
