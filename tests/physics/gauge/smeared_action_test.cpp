// Links of definitions, V[mu] = exp(A)*U[mu], in the actions of trajectories: forces carried back
// to U against numbers of an independent program and against differences of the action.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/physics/gauge/fixed_quarks.hpp"

namespace vphi {
namespace {

using testing::FixedQuarks;

struct SmearedModel {
  std::string gauge = "SU(2)", lattice = "4 * 3";
  std::string action;  ///< of the name `quarks`, by which the harness knows it
  std::string before = {};
  std::string more = {};
  std::string level = "steps = 4, scheme = leapfrog";

  std::string text() const {
    return "model smeared \"an action of links of a definition\"\nparam kappa = 0.13, mu_q = 0.2, "
           "rho = 0.1\nlattice grid: " +
           lattice + "\ngauge U: " + gauge +
           "\nP[mu,nu] = loop(mu, nu, -mu, -nu)\n"
           "B = 2*sum(1 - re(tr(P[mu,nu])), mu < nu)\n"
           "V[mu] = exp(-rho*d(B, U[mu]))*U[mu]\nW[mu] = exp(-rho*d(B, V[mu]))*V[mu]\n" +
           before + "action quarks = " + action +
           "\nsample hmc, trajectories = 1, tau = 1 {\n  level quarks: " + level +
           "\n}\ninit U ~ hot\nevery 1 trajectory: deltaH -> \"q.csv\"\n" + more;
  }
};

std::string quark_lines(const std::string& spinor, const std::string& axis,
                        const std::string& quark, const std::string& links = "W") {
  return "fermion psi: " + spinor + ", boundary(" + axis +
         ") = antiperiodic\nhop(psi) = sum((1 - gamma[mu])*" + links +
         "[mu]*psi@mu, mu = directions(+,-))\n"
         "D(psi) = " +
         quark + "\n";
}

/// Twisted-mass quarks on two stout steps, all sites, SU(3) on 4 x 2 x 6 x 4.
TEST(SmearedActions, QuarksOfAnotherProgram) {
  SmearedModel model{.gauge = "SU(3)",
                     .lattice = "4 * 2 * 6 * 4",
                     .action = "pseudofermion(D, solver = cgne(1e-14))"};
  model.before = quark_lines("spinor", "t", "psi + 2i*kappa*mu_q*gamma5*psi - kappa*hop(psi)");
  FixedQuarks quarks(model.text(), 3, 4, 192, 0.7);
  testing::expect_forces(
      quarks, {2643.974942000641, 8489.3462296106, 22.4581234731, 0.7418133221, -0.0271254393},
      true);
}

struct Loops {
  const char* name;
  std::string gauge;
  int colours;
  std::string action;
  std::string before = {};
};

class SmearedLoops : public ::testing::TestWithParam<Loops> {};

TEST_P(SmearedLoops, ForcesAreDifferencesOfTheAction) {
  const Loops& p = GetParam();
  SmearedModel model{.gauge = p.gauge, .action = p.action, .before = p.before};
  FixedQuarks run(model.text(), p.colours, 2, 12, 1.1, 0);
  run.action();
  const double along = run.along_momenta(), known = run.energy_slope();
  EXPECT_GT(std::abs(along), 0.1);
  EXPECT_NEAR(along, known, 1e-8 * std::max(1.0, std::abs(known)));
  // V differs from U, so that a force without the chain rule would be seen
  model.before += "none = 0\n";
  std::string plain = model.text();
  plain.replace(plain.find("rho = 0.1"), 9, "rho = 0.0");
  FixedQuarks thin(plain, p.colours, 2, 12, 1.1, 0);
  thin.action();
  EXPECT_GT(std::abs(thin.along_momenta() - along), 0.01);
}

const std::string kPlaquettesOfW = "2*sum(1 - re(tr(loop(W, mu, nu, -mu, -nu))), mu < nu)";
INSTANTIATE_TEST_SUITE_P(
    Groups, SmearedLoops,
    ::testing::Values(
        Loops{"u1", "U(1)", 1, kPlaquettesOfW}, Loops{"su2", "SU(2)", 2, kPlaquettesOfW},
        Loops{"su3", "SU(3)", 3, kPlaquettesOfW}, Loops{"su4", "SU(4)", 4, kPlaquettesOfW},
        Loops{"once", "SU(2)", 2, "sum(re(tr(loop(V, 2*mu, nu, -2*mu, -nu))), mu != nu)"},
        // the links of the model and of two definitions in one action
        Loops{"all", "SU(2)", 2,
              "sum(re(tr(P[mu,nu])) + 0.5*re(tr(loop(V, mu, nu, -mu, -nu))), mu < nu) + " +
                  kPlaquettesOfW},
        // imaginary parts, a longer loop in the exponent, one axis alone, two definitions of U
        Loops{"bent", "SU(3)", 3,
              "im(tr(loop(Y, x, y, -x, -y))) + re(tr(loop(X, 2*x, y, -2*x, -y)))",
              "R = im(tr(loop(x, y, -x, -y))) + re(tr(loop(2*x, y, -2*x, -y)))\n"
              "X[mu] = exp(0.07*rho*10*d(R, U[mu]) - rho*d(B, U[mu])/2)*U[mu]\n"
              "half[mu] = B/2 if mu == x else 0*B\n"
              "Y[mu] = exp(-rho*d(half[mu], U[mu]))*U[mu]\n"},
        // not linear in loops, and words of both links
        Loops{"squares", "SU(2)", 2,
              "sum(re(tr(loop(W, mu, nu, -mu, -nu)))^2 + "
              "re(tr(V[mu]*U[nu]@mu*adj(W[mu]@nu)*adj(U[nu]))), mu < nu)"}),
    [](const auto& test) { return std::string(test.param.name); });

struct Quarks {
  const char* name;
  std::string gauge;
  int colours;
  std::string quark, action, before = {};
  bool halves = false;
  std::string links = "W";  ///< of the hops
};

class SmearedQuarks : public ::testing::TestWithParam<Quarks> {};

TEST_P(SmearedQuarks, ForcesAreDifferencesOfTheAction) {
  const Quarks& p = GetParam();
  SmearedModel model{.gauge = p.gauge, .lattice = "4 * 2", .action = p.action};
  model.before = p.before + quark_lines("spinor(2)", "y", p.quark, p.links);
  FixedQuarks run(model.text(), p.colours, 2, 8, 1.1, 2);
  if (p.halves) run.at_odd_sites({4, 2});
  run.action();
  const double along = run.along_momenta();
  EXPECT_GT(std::abs(along), 0.01);
  EXPECT_NEAR(along, run.slope(), 2e-8 * std::max(1.0, std::abs(along)));
}

INSTANTIATE_TEST_SUITE_P(
    Operators, SmearedQuarks,
    ::testing::Values(
        Quarks{"su2", "SU(2)", 2, "psi - kappa*hop(psi)", "pseudofermion(D, solver = cg(1e-14))"},
        Quarks{"halves", "U(1)", 1, "psi - kappa*hop(psi)",
               "pseudofermion(D, solver = cg(1e-14), even_odd = on)", "", true},
        Quarks{"quotient", "U(1)", 1, "psi + 2i*kappa*mu_q*gamma5*psi - kappa*hop(psi)",
               "pseudofermion(D, solver = cg(1e-14))/pseudofermion(D, kappa = 0.1, solver = "
               "cg(1e-14))"},
        Quarks{"power", "U(1)", 1, "psi - kappa*hop(psi)",
               "pseudofermion(D, solver = multishift(1e-14), range = [0.02, 4])^(1/2)"},
        // hops along the links of the definition, the clover term of those of the model
        Quarks{"both", "SU(2)", 2,
               "psi - kappa*hop(psi) - kappa*gamma[x]*gamma[y]*(P[x,y] - adj(P[x,y]))/2*psi",
               "pseudofermion(D, solver = cgne(1e-14))"}),
    [](const auto& test) { return std::string(test.param.name); });

const std::string kWide =
    "X[mu] = project(U[mu] + rho*sum(path(nu, mu, -nu) + path(-nu, mu, nu), nu != mu))\n"
    "Y[mu] = project(X[mu] + rho*sum(path(X, nu, mu, -nu) + path(X, -nu, mu, nu), nu != mu))\n";
const std::string kPlaquettesOfX = "2*sum(1 - re(tr(loop(X, mu, nu, -mu, -nu))), mu < nu)";
const std::string kPlaquettesOfY = "2*sum(1 - re(tr(loop(Y, mu, nu, -mu, -nu))), mu < nu)";

INSTANTIATE_TEST_SUITE_P(
    Projections, SmearedLoops,
    ::testing::Values(
        Loops{"u1", "U(1)", 1, kPlaquettesOfY, kWide},
        Loops{"su2", "SU(2)", 2, kPlaquettesOfY, kWide},
        Loops{"su3", "SU(3)", 3, kPlaquettesOfX, kWide},
        // links of the model, of a projection and of an exponent of it in one action
        Loops{"mixed", "SU(2)", 2,
              "sum(re(tr(P[mu,nu])) + 0.5*re(tr(loop(Z, mu, nu, -mu, -nu))), mu < nu) + " +
                  kPlaquettesOfX,
              kWide + "Z[mu] = exp(-rho*d(B, X[mu]))*X[mu]\n"},
        // numbers with an imaginary part, longer words, a product of three definitions, one axis
        Loops{
            "bent", "SU(3)", 3, "im(tr(loop(Y, x, y, -x, -y))) + re(tr(loop(X, 2*x, y, -2*x, -y)))",
            "A[mu] = project(U[mu] + rho*3i*sum(path(2*nu, mu, -2*nu) if nu > mu else 0*U[mu], nu "
            "!= mu))\n"
            "X[mu] = project(U[mu] + rho*A[mu]*adj(V[mu])*U[mu])\n"
            "Y[mu] = project(X[mu] + rho*A[y]*X[mu]@y*adj(A[y]@mu) if mu == x else X[mu])\n"}),
    [](const auto& test) { return std::string(test.param.name); });

INSTANTIATE_TEST_SUITE_P(
    Projections, SmearedQuarks,
    ::testing::Values(Quarks{"su2", "SU(2)", 2, "psi - kappa*hop(psi)",
                             "pseudofermion(D, solver = cg(1e-14))",
                             "K[mu] = project(U[mu] + rho*sum(path(nu, mu, -nu), nu != mu))\n",
                             false, "K"},
                      Quarks{"halves", "U(1)", 1, "psi - kappa*hop(psi)",
                             "pseudofermion(D, solver = cg(1e-14), even_odd = on)",
                             "K = ape(V, 0.4)\n", true, "K"}),
    [](const auto& test) { return std::string(test.param.name); });

struct KnownLoops {
  const char* name;
  std::string gauge;
  int colours;
  std::vector<int> extent;
  std::string lattice, smeared;
  double scale;
  testing::KnownForces known;
};

class ProjectedLoops : public ::testing::TestWithParam<KnownLoops> {};

/// S without its numbers, which H drops. Numbers of a program with singular value decompositions
/// and differences of the action.
TEST_P(ProjectedLoops, OfAnotherProgram) {
  const KnownLoops& p = GetParam();
  SmearedModel model{.gauge = p.gauge, .lattice = p.lattice, .action = kPlaquettesOfY};
  model.before = p.smeared;
  const int dims = static_cast<int>(p.extent.size());
  int sites = 1;
  for (const int n : p.extent) sites *= n;
  FixedQuarks run(model.text(), p.colours, dims, sites, p.scale, 0);
  EXPECT_NEAR(run.energy(), p.known.s, 1e-10 * std::abs(p.known.s));
  run.action();
  double squares = 0;
  for (const double slope : run.slopes()) squares += slope * slope;
  EXPECT_NEAR(squares, p.known.squares, 1e-8 * p.known.squares);
  EXPECT_NEAR(run.along_momenta(), p.known.along, 1e-8);
  EXPECT_NEAR(run.slopes().front(), p.known.first, 1e-8);
  EXPECT_NEAR(run.slopes().back(), p.known.last, 1e-8);
  // under a gauge transformation at random
  run.transform(p.extent);
  EXPECT_NEAR(run.energy(), p.known.s, 1e-10 * std::abs(p.known.s));
  run.action();
  double moved = 0;
  for (const double slope : run.slopes()) moved += slope * slope;
  EXPECT_NEAR(moved, squares, 1e-10 * squares);
}

INSTANTIATE_TEST_SUITE_P(Groups, ProjectedLoops,
                         ::testing::Values(KnownLoops{"u1",
                                                      "U(1)",
                                                      1,
                                                      {4, 3},
                                                      "4 * 3",
                                                      kWide,
                                                      1.1,
                                                      {3.726988216755 - 24, 29.261975057,
                                                       -5.0538197469, -1.3846850032,
                                                       -1.4046075636}},
                                           KnownLoops{"su2",
                                                      "SU(2)",
                                                      2,
                                                      {4, 3},
                                                      "4 * 3",
                                                      kWide,
                                                      1.1,
                                                      {-19.415800043571 - 24, 12.359021776,
                                                       3.0678689121, -0.2804172695, -0.1405959398}},
                                           KnownLoops{"su3",
                                                      "SU(3)",
                                                      3,
                                                      {4, 3},
                                                      "4 * 3",
                                                      kWide,
                                                      1.1,
                                                      {-32.080473509028 - 24, 73.669483209,
                                                       6.2089173094, -0.5247323135, 0.0852724368}},
                                           KnownLoops{"ape",
                                                      "SU(3)",
                                                      3,
                                                      {3, 2, 2},
                                                      "3 * 2 * 2",
                                                      "Y = ape(U, 0.4)\n",
                                                      0.7,
                                                      {-127.399308980407 - 72, 79.628268220,
                                                       -2.3060212313, -0.3080019604, 0.2885760306}},
                                           KnownLoops{"hyp",
                                                      "SU(2)",
                                                      2,
                                                      {2, 2, 2, 2},
                                                      "2^4",
                                                      "Y = hyp(U, 0.75, 0.6, 0.3)\n",
                                                      0.6,
                                                      {-184.825676372390 - 192, 60.052967285,
                                                       7.3959680343, -0.5405998059, 0.3559906655}}),
                         [](const auto& test) { return std::string(test.param.name); });

/// S and the square of the force do not change under a gauge transformation at random.
TEST(SmearedActions, GaugeInvariant) {
  const SmearedModel model{.gauge = "SU(3)", .action = kPlaquettesOfW};
  FixedQuarks run(model.text(), 3, 2, 12, 1.1, 0);
  const auto all = [&] {
    run.action();
    double squares = 0;
    for (const double slope : run.slopes()) squares += slope * slope;
    return std::pair(run.energy(), squares);
  };
  const auto [s, squares] = all();
  run.transform({4, 3});
  const auto [moved, moved_squares] = all();
  EXPECT_NEAR(moved, s, 1e-11 * std::abs(s));
  EXPECT_NEAR(moved_squares, squares, 1e-11 * squares);
}

/// The library's functions of links are the definitions of these models.
TEST(SmearedActions, FunctionsOfTheLibrary) {
  if (!testing::device("native")) GTEST_SKIP() << "no native device";
  for (const char* gauge : {"SU(2)", "U(1)"}) {
    SmearedModel model{.gauge = gauge, .action = kPlaquettesOfW};
    model.before = "M = mean(re(tr(loop(W, x, y, -x, -y))))\n";
    model.more = "every 1 trajectory: M -> \"m.csv\"\n";
    std::string text = model.text();
    const std::size_t from = text.find("V[mu] ="), to = text.find("M = ");
    // B has twice the plaquettes of U(1) that `stout` takes
    const std::string rho = std::string(gauge) == "U(1)" ? "2*rho" : "rho";
    const auto written = testing::run_text(text, {});
    text.replace(from, to - from, "W = stout(stout(U, " + rho + "), " + rho + ")\n");
    const auto words = testing::run_text(text, {});
    EXPECT_GT(std::abs(testing::last(written, "deltaH")), 1e-5);
    for (const char* name : {"deltaH", "M"})
      EXPECT_NEAR(testing::last(words, name), testing::last(written, name), 1e-11) << gauge;
  }
}

/// A trajectory of projected links, the momenta turned round, and another one.
TEST(SmearedActions, ProjectionsAreReversible) {
  SmearedModel model{.gauge = "U(1)", .action = kPlaquettesOfY};
  model.before = kWide;
  FixedQuarks run(model.text(), 1, 2, 12, 1.1, 0);
  const auto [moved, gap] = run.there_and_back();
  EXPECT_GT(moved, 0.05);
  EXPECT_LT(gap, 1e-12);
}

/// deltaH of one draw for n and 2n steps.
TEST(SmearedActions, OrderOfTheIntegrator) {
  if (!testing::device("native")) GTEST_SKIP() << "no native device";
  SmearedModel model{.action = kPlaquettesOfW};
  const auto delta = [&](int steps, const testing::Simulation& setup) {
    model.level = "steps = " + std::to_string(steps) + ", scheme = omelyan2";
    return testing::last(testing::run_text(model.text(), setup), "deltaH");
  };
  const double coarse = delta(16, {}), fine = delta(32, {});
  EXPECT_GT(std::abs(coarse), 1e-5);
  EXPECT_NEAR(4 * fine / coarse, 1, 0.05);
  const auto as_on_native = [&](double native) {
    if (!testing::device("opencl")) return;
    testing::Simulation opencl;
    opencl.device = "opencl";
    EXPECT_NEAR(delta(16, opencl), native, 1e-9);
  };
  as_on_native(coarse);
  model.action = kPlaquettesOfX;
  model.before = kWide;
  const double projected = delta(16, {});
  EXPECT_GT(std::abs(projected), 1e-5);
  EXPECT_NEAR(4 * delta(32, {}) / projected, 1, 0.05);
  as_on_native(projected);
}

}  // namespace
}  // namespace vphi
