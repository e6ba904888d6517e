// Determinants in the weight of trajectories: actions and forces of fixed fields against numbers of
// an independent program and against differences of the action, orders, reversibility, exact
// averages, devices.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/physics/gauge/fixed_quarks.hpp"

namespace vphi {
namespace {

using testing::FixedQuarks;

constexpr const char* kHop = "hop(psi) = sum((1 - gamma[mu])*U[mu]*psi@mu, mu = directions(+,-))\n";
/// The field strength of the four plaquettes around a site.
constexpr const char* kFieldStrengthOfPhases =
    "C[mu,nu] = loop(mu, nu, -mu, -nu) + loop(nu, -mu, -nu, mu) + loop(-mu, -nu, mu, nu) + "
    "loop(-nu, mu, nu, -mu)\n"
    "F[mu,nu] = (C[mu,nu] - conj(C[mu,nu]))/8\n";
constexpr const char* kPhasesInFour =
    "odd(n) = 1 - 2*mod(n, 2)\n"
    "eta[k] = 1 if k == x else (odd(index(x)) if k == y else (odd(index(x) + index(y)) if k == z "
    "else "
    "odd(index(x) + index(y) + index(z))))\n";
constexpr const char* kPhasesOfAPlane = "eta[k] = 1 if k == x else 1 - 2*mod(index(x), 2)\n";
constexpr const char* kStaggered = "0.2*psi + sum(eta[k]*(U[k]*psi@k - U[-k]*psi@-k), k)/2";

struct QuarkModel {
  std::string gauge = "U(1)", lattice = "4^2", antiperiodic = "y";
  std::string action = "pseudofermion(D, solver = cgne(1e-14))";
  std::string quark = "psi - kappa*hop(psi)";
  double beta = 2, kappa = 0.24;
  std::string level = "steps = 4, scheme = leapfrog";
  int trajectories = 1;
  double tau = 1;
  std::string more = {};
  std::string spinor = "spinor";
  std::string before = {};  ///< lines in front of the operator

  std::string text() const {
    return "model quarks \"dynamical quarks\"\nparam kappa = " + testing::exact(kappa) +
           ", mu_q = 0.2, c = 0.01\nlattice grid: " + lattice + "\ngauge U: " + gauge +
           "\nfermion psi: " + spinor + ", boundary(" + antiperiodic + ") = antiperiodic\n" +
           (spinor == "spinor(1)" ? "" : kHop) + before + "D(psi) = " + quark +
           "\naction quarks = " + action + "\naction glue = " + testing::exact(beta) +
           "*sum(1 - re(tr(loop(mu, nu, -mu, -nu))), mu < nu)\n" +
           "sample hmc, trajectories = " + std::to_string(trajectories) +
           ", tau = " + testing::exact(tau) + " {\n  level quarks: " + level +
           "\n  level glue: steps = 1, scheme = leapfrog\n}\ninit U ~ hot\n" +
           "every 1 trajectory: q = mean(re(tr(loop(mu, nu, -mu, -nu))), mu < nu), deltaH, accept "
           "-> \"q.csv\"\n" +
           more;
  }
};

struct Known {
  QuarkModel model;
  int colours, dims, sites;
  double scale;
  testing::KnownForces forces;
  bool halves = false;

  int spins() const { return model.spinor == "spinor" ? 4 : model.spinor[7] - '0'; }
};

QuarkModel four(const std::string& quark) {
  return {.gauge = "SU(3)",
          .lattice = "4 * 2 * 6 * 4",
          .antiperiodic = "t",
          .quark = quark,
          .kappa = 0.13};
}

/// `differences`: also against differences of the action along the momenta.
void expect_known(const Known& known, bool differences = true) {
  SCOPED_TRACE(known.model.gauge + ": " + known.model.quark + ", " + known.model.action);
  FixedQuarks quarks(known.model.text(), known.colours, known.dims, known.sites, known.scale,
                     known.spins());
  if (known.halves) quarks.at_odd_sites({4, 2, 6, 4});
  const double along = testing::expect_forces(quarks, known.forces, known.colours == 3);
  if (!differences) return;
  EXPECT_NEAR(along, quarks.slope(), 1e-8 * std::max(1.0, std::sqrt(known.forces.squares)));
}

TEST(Pseudofermions, ActionAndForceInTwoDimensions) {
  expect_known({{}, 1, 2, 16, 1.5, {80.524037325632, 485.2196084919, 17.4475406602}});
  expect_known({{.action = "pseudofermion(D, solver = cg(1e-14))"},
                1,
                2,
                16,
                1.5,
                {80.524037325632, 485.2196084919, 17.4475406602}});
  expect_known({{.gauge = "SU(2)", .lattice = "4 * 6"},
                2,
                2,
                24,
                1.2,
                {272.825956750752, 3327.7642820348, -138.6078926619}});
}

TEST(Pseudofermions, ActionAndForceOfSu3) {
  QuarkModel model = four("psi + 2i*kappa*mu_q*gamma5*psi - kappa*hop(psi)");
  expect_known(
      {model,
       3,
       4,
       192,
       0.7,
       {2623.988774848899, 13768.1393963924, -104.1264285889, 0.2031777842, -0.1614368917}},
      false);
  model.action =
      "pseudofermion(D, solver = cgne(1e-14))/pseudofermion(D, mu_q = 0.6, solver = cgne(1e-14))";
  expect_known({model,
                3,
                4,
                192,
                0.7,
                {1618.085803739919, 6.0947020381, 0.8831365502, 0.0303786254, -0.0113116414}},
               false);
}

TEST(Pseudofermions, SpinorsOfTwoAndOneComponents) {
  expect_known(
      {{.spinor = "spinor(2)"}, 1, 2, 16, 1.5, {21.208757274324, 37.7938787680, -10.3095547230}});
  expect_known({{.gauge = "SU(2)", .lattice = "4 * 6", .spinor = "spinor(2)"},
                2,
                2,
                24,
                1.2,
                {151.001764463909, 1936.2960977496, 18.2684706349}});
  QuarkModel staggered = four(kStaggered);
  staggered.spinor = "spinor(1)";
  staggered.before = kPhasesInFour;
  expect_known({staggered,
                3,
                4,
                192,
                0.7,
                {540.156567507716, 8893.6743430970, 9.2316258818, -0.0585228835, 0.5742997003}},
               false);
}

/// Sums of loops in brackets, times numbers, are the terms written out.
TEST(Pseudofermions, SumsOfPathsInBrackets) {
  const auto of = [](const std::string& gauge, const std::string& term) {
    const QuarkModel model{.gauge = gauge, .quark = "psi - kappa*hop(psi) + " + term};
    const int colours = gauge == "U(1)" ? 1 : 2;
    FixedQuarks quarks(model.text(), colours, 2, 16, 1.2);
    std::vector<double> all{quarks.action()};
    const std::vector<double> slopes = quarks.slopes();
    all.insert(all.end(), slopes.begin(), slopes.end());
    return all;
  };
  const std::string p = "loop(x, y, -x, -y)", q = "loop(y, x, -y, -x)", back = "loop(y, -x, -y, x)";
  const std::vector<std::pair<std::string, std::string>> alike = {
      {"kappa*gamma5*(" + p + " - " + q + ")*psi",
       "kappa*gamma5*" + p + "*psi - kappa*gamma5*" + q + "*psi"},
      {"c*" + p + "*psi", "c*(" + p + "*psi)"},
      {"(-" + p + "/4)*psi", "-(" + p + "*psi)/4"},
      {"ADJ(c*1i*(" + p + " + " + back + "))*psi",
       "-1i*c*(loop(y, x, -y, -x)*psi) - 1i*c*(loop(-x, y, x, -y)*psi)"},
      {"(c*(" + p + " - 2*" + back + ")*" + p + ")*psi",
       "c*(" + p + "*(" + p + "*psi)) - 2*c*(" + back + "*(" + p + "*psi))"},
      {"c*(U[x] + U[x]*" + p + "@x)*psi@x", "c*(U[x]*psi@x) + c*(U[x]*(" + p + "*psi)@x)"}};
  for (const std::string gauge : {"U(1)", "SU(2)"}) {
    for (const auto& [one, other] : alike) {
      SCOPED_TRACE(gauge + ": " + one);
      std::string term = one;  // of numbers the adjoint is the conjugate
      if (term.starts_with("ADJ")) term.replace(0, 3, gauge == "U(1)" ? "conj" : "adj");
      const std::vector<double> a = of(gauge, term), b = of(gauge, other);
      ASSERT_EQ(a.size(), b.size());
      for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-9 * std::abs(a[0]));
    }
  }
}

/// Loops where the spinor is read at the site itself have matrices of the site in memory, whatever
/// loops and numbers there are: with and without the reverse, with the same matrix or others.
TEST(Pseudofermions, LoopsAtTheSite) {
  const std::string p = "loop(x, y, -x, -y)", q = "loop(y, x, -y, -x)", back = "loop(y, -x, -y, x)";
  for (const std::string gauge : {"U(1)", "SU(2)"})
    for (const std::string& term :
         {"0.3*gamma5*(" + p + " - " + q + ")*psi", "0.3*(" + p + " + " + q + ")*psi",
          "0.2*" + p + "*psi", "0.2i*gamma5*" + q + "*psi + 0.1*gamma[x]*" + back + "*psi",
          "0.2*gamma[x]*" + p + "*psi - 0.2*gamma[y]*" + q + "*psi - 0.1*" + back + "*psi"}) {
      SCOPED_TRACE(gauge + ": " + term);
      const QuarkModel model{.gauge = gauge, .quark = "psi - kappa*hop(psi) + " + term};
      FixedQuarks quarks(model.text(), gauge == "U(1)" ? 1 : 2, 2, 16, 1.2);
      quarks.action();
      const double along = quarks.along_momenta();
      EXPECT_GT(std::abs(along), 0.03);
      EXPECT_NEAR(along, quarks.slope(), 1e-7 * std::max(1.0, std::abs(along)));
    }
}

/// |det M| of M = R - H R^-1 H at odd sites by a rational function whose error is rounding.
TEST(Pseudofermions, PowersOfSu3) {
  QuarkModel model = four("psi - kappa*hop(psi)");
  model.action =
      "pseudofermion(D, solver = multishift(1e-14), range = [0.1, 1.7], tol = 1e-13, even_odd = "
      "on)^(1/2)";
  expect_known({model,
                3,
                4,
                192,
                0.7,
                {842.252197425766, 112.7597109353, 11.9299878501, -0.0564183095, 0.1055079798},
                true},
               false);
}

/// The ends of the spectra of dense matrices, by an independent program, to five places.
TEST(Pseudofermions, EndsOfTheSpectrumAreKnown) {
  QuarkModel wilson = four("psi - kappa*hop(psi)");
  wilson.action = "pseudofermion(D, range = [0.1, 1.7], tol = 1e-6, even_odd = on)^(1/2)";
  QuarkModel staggered = four(kStaggered);
  staggered.spinor = "spinor(1)";
  staggered.before = kPhasesInFour;
  staggered.action = "pseudofermion(D, range = [0.09, 4.3], tol = 1e-6)^(1/4)";
  struct Known {
    const QuarkModel& model;
    int spins;
    double smallest, largest;
  };
  for (const Known& known :
       {Known{wilson, 4, 0.11010, 1.56160}, {staggered, 1, 0.09525, 4.20023}}) {
    FixedQuarks quarks(known.model.text(), 3, 4, 192, 0.7, known.spins);
    const auto [smallest, largest] = quarks.ends();
    EXPECT_NEAR(smallest, known.smallest, 1e-5);
    EXPECT_NEAR(largest, known.largest, 2e-4);  // the estimate is below
    EXPECT_LT(largest, known.largest + 1e-5);
  }
}

/// Forces of powers along the momenta, with and without halves, and of staggered quarks.
TEST(Pseudofermions, ForcesOfPowersAreDifferencesOfTheAction) {
  for (const char* power : {"(1/2)", "(1/3)", "0.75"}) {
    for (const bool halves : {false, true}) {
      QuarkModel model{.spinor = "spinor(2)"};
      model.action = std::string("pseudofermion(D, solver = multishift(1e-14), range = [0.02, 4]") +
                     (halves ? ", even_odd = on" : "") + ")^" + power;
      SCOPED_TRACE(model.action);
      FixedQuarks quarks(model.text(), 1, 2, 16, 1.5, 2);
      if (halves) quarks.at_odd_sites({4, 4});
      quarks.action();
      const double along = quarks.along_momenta();
      EXPECT_GT(std::abs(along), 0.1);
      EXPECT_NEAR(along, quarks.slope(), 2e-8);
    }
  }
}

double delta(const QuarkModel& model, const testing::Simulation& setup = {}) {
  return testing::last(testing::run_text(model.text(), setup), "deltaH");
}

/// deltaH of one draw of momenta and fields for n and 2n steps, times n^order.
void expect_order(QuarkModel model, const std::string& scheme, int order, int steps,
                  double within) {
  const auto scaled = [&](int n) {
    model.level = "steps = " + std::to_string(n) + ", scheme = " + scheme;
    return delta(model) * std::pow(n, order);
  };
  EXPECT_NEAR(scaled(2 * steps) / scaled(steps), 1, within) << model.gauge << " " << scheme;
}

/// The field is drawn with the weight of the action: phi of eta has S = |eta|^2.
TEST(Pseudofermions, PowersStartAtTheActionOfTheirDraw) {
  if (!testing::device("native")) GTEST_SKIP() << "no native device";
  // the norm of kappa*hop is below 0.6
  QuarkModel model{.kappa = 0.15, .spinor = "spinor(2)"};
  for (const char* options : {"range = [0.16, 2.56]", "range = [0.4, 1.86], even_odd = on"}) {
    model.action = std::string("pseudofermion(D, solver = multishift(1e-12), tol = 1e-9, ") +
                   options + ")^(1/2)";
    model.tau = 1e-9;  // the links stand still: deltaH is the difference of both
    EXPECT_NEAR(delta(model), 0, 1e-7);
  }
  model.tau = 1;
  expect_order(model, "omelyan2", 2, 8, 0.1);
}

TEST(Pseudofermions, OrdersOfTheIntegrators) {
  if (!testing::device("native")) GTEST_SKIP() << "no native device";
  QuarkModel model{.action = "pseudofermion(D, solver = cg(1e-12))"};
  expect_order(model, "leapfrog", 2, 16, 0.05);
  model.gauge = "SU(2)";
  expect_order(model, "omelyan2", 2, 16, 0.05);
}

/// A power above 1 is as many whole fields and one for the rest.
TEST(Pseudofermions, PowersAboveOne) {
  if (!testing::device("native")) GTEST_SKIP() << "no native device";
  QuarkModel power{.kappa = 0.15, .spinor = "spinor(2)"}, product = power;
  const std::string solver = "pseudofermion(D, solver = multishift(1e-12)";
  const std::string fraction = ", tol = 1e-9, range = [0.16, 2.56])";
  power.action = solver + fraction + "^(9/4)";
  product.action = solver + ")*" + solver + ")*" + solver + fraction + "^(1/4)";
  power.tau = product.tau = 0.5;
  const double both = delta(power);
  EXPECT_GT(std::abs(both), 1e-6);
  EXPECT_NEAR(both, delta(product), 1e-9);
  power.tau = 1e-9;  // the links stand still: the fields are drawn with the weight of the action
  EXPECT_NEAR(delta(power), 0, 1e-7);
}

/// A product of determinants has a field for each factor; an action named in it counts as its text.
TEST(Pseudofermions, Products) {
  if (!testing::device("native")) GTEST_SKIP() << "no native device";
  const QuarkModel model{
      .action =
          "pseudofermion(D, solver = cg(1e-12))*pseudofermion(D, kappa = 0.1, solver = "
          "cgne(1e-12))"};
  expect_order(model, "omelyan2", 2, 16, 0.05);
}

/// Numbers of the site that are not the same one box further along, in words of one and of two
/// links and at the site.
TEST(Pseudofermions, NumbersOfTheSite) {
  for (const char* lattice : {"4^2", "2 * 8"}) {
    QuarkModel model{.lattice = lattice,
                     .quark =
                         "psi + 0.1*index(x)*psi - kappa*(1 + 0.3*index(y))*hop(psi) + "
                         "c*index(x)*U[x]*U[y]@x*(1 + gamma[x])*psi@(1,1)"};
    FixedQuarks quarks(model.text(), 1, 2, 16, 1.5);
    quarks.action();
    const double along = quarks.along_momenta();
    EXPECT_GT(std::abs(along), 0.1);
    EXPECT_NEAR(along, quarks.slope(), 2e-8 * std::max(1.0, std::abs(along))) << lattice;
  }
}

/// One form of Y - phi where the operators differ at the sites alone, two where they do not.
TEST(Pseudofermions, Quotients) {
  if (!testing::device("native")) GTEST_SKIP() << "no native device";
  QuarkModel model{.quark = "psi + 2i*kappa*mu_q*gamma5*psi - kappa*hop(psi)"};
  for (const char* option : {"mu_q = 0.6", "kappa = 0.15"}) {
    for (const char* solver : {"cg", "cgne"}) {
      model.action = std::string("pseudofermion(D, solver = ") + solver +
                     "(1e-13))/pseudofermion(D, " + option + ", solver = " + solver + "(1e-13))";
      FixedQuarks quarks(model.text(), 1, 2, 16, 1.5);
      quarks.action();
      const double along = quarks.along_momenta();
      EXPECT_GT(std::abs(along), 0.1);
      EXPECT_NEAR(along, quarks.slope(), 1e-8) << model.action;
      expect_order(model, "omelyan2", 2, 16, 0.05);
    }
  }
}

/// 1/|det D|^2: S = |D phi|^2. With a local part that holds links S has 2 log|det R| at odd sites.
TEST(Pseudofermions, BelowTheLineAlone) {
  const std::string clover = " - kappa*sum(gamma[mu]*gamma[nu]*F[mu,nu]*psi, mu < nu)";
  for (const bool leaves : {false, true}) {
    for (const char* action :
         {"1/pseudofermion(D, solver = cg(1e-13))", "pseudofermion(D, solver = cgne(1e-13))^(-1)",
          "1/pseudofermion(D, solver = cg(1e-13), even_odd = on)"}) {
      QuarkModel model{.action = action, .spinor = "spinor(2)"};
      if (leaves) model.before = kFieldStrengthOfPhases, model.quark += clover;
      SCOPED_TRACE(model.quark + ", " + action);
      FixedQuarks quarks(model.text(), 1, 2, 16, 1.5, 2);
      const bool halves = model.action.find("even_odd") != std::string::npos;
      if (halves) quarks.at_odd_sites({4, 4});
      if (halves && leaves) quarks.count_logarithms(2);
      EXPECT_GT(quarks.action(), 1);
      const double along = quarks.along_momenta();
      EXPECT_GT(std::abs(along), 0.05);
      EXPECT_NEAR(along, quarks.slope(), 2e-8);
    }
  }
  if (!testing::device("native")) return;
  QuarkModel model{.action = "1/pseudofermion(D, solver = cg(1e-12), even_odd = on)"};
  expect_order(model, "omelyan2", 2, 16, 0.05);
  model.tau = 1e-9;  // the links stand still: the fields are drawn with the weight of the action
  EXPECT_NEAR(delta(model), 0, 1e-7);
}

/// 1/|det D|^(2p): S = <phi, r(D adj(D)) phi> with r about z^p, and 2p log|det R| at even sites.
/// Numerators and denominators with fractions stand alone.
TEST(Pseudofermions, RootsBelowTheLine) {
  const std::string clover = " - kappa*sum(gamma[mu]*gamma[nu]*F[mu,nu]*psi, mu < nu)";
  const std::string options = "D, solver = multishift(1e-13), tol = 1e-10, range = [0.05, 3.5]";
  for (const bool leaves : {false, true}) {
    for (const std::string& action : {"pseudofermion(" + options + ")^(-1/2)",
                                      "1/pseudofermion(" + options + ", even_odd = on)^(1/4)"}) {
      QuarkModel model{.action = action, .kappa = 0.15, .spinor = "spinor(2)"};
      if (leaves) model.before = kFieldStrengthOfPhases, model.quark += clover;
      SCOPED_TRACE(model.quark + ", " + action);
      FixedQuarks quarks(model.text(), 1, 2, 16, 1.5, 2);
      const bool halves = model.action.find("even_odd") != std::string::npos;
      if (halves) quarks.at_odd_sites({4, 4});
      if (halves && leaves) quarks.count_logarithms(0.5);
      EXPECT_GT(quarks.action(), 1);
      const double along = quarks.along_momenta();
      EXPECT_GT(std::abs(along), 0.02);
      EXPECT_NEAR(along, quarks.slope(), 2e-8);
    }
  }
  if (!testing::device("native")) return;
  QuarkModel model{.kappa = 0.15, .spinor = "spinor(2)"};
  for (const std::string& action :
       {"pseudofermion(" + options + ", even_odd = on)^(-3/2)",
        "pseudofermion(" + options + ")^(1/2)/pseudofermion(" + options + ", kappa = 0.1)^(1/2)"}) {
    model.action = action;
    model.tau = 1;
    expect_order(model, "omelyan2", 2, 16, 0.1);
    model.tau = 1e-9;  // the links stand still: the fields are drawn with the weight of the action
    EXPECT_NEAR(delta(model), 0, 1e-7) << action;
  }
}

TEST(Pseudofermions, SolversAndPrecisionsAgree) {
  if (!testing::device("native")) GTEST_SKIP() << "no native device";
  QuarkModel model{.level = "steps = 8, scheme = omelyan2"};
  const auto with = [&](const std::string& options, const std::string& precision = {}) {
    model.action = "pseudofermion(D, " + options + ")";
    testing::Simulation setup;
    setup.precision = precision;
    return delta(model, setup);
  };
  const double wanted = with("solver = cg(1e-12)");
  EXPECT_GT(std::abs(wanted), 1e-4);
  EXPECT_NEAR(with("solver = cgne(1e-12)"), wanted, 1e-8);
  EXPECT_NEAR(with("solver = bicgstab(1e-12)"), wanted, 1e-8);
  EXPECT_NEAR(with("solver = cg(1e-12, inner = f32)"), wanted, 1e-8);
  EXPECT_NEAR(with("solver = cg(1e-12), force = cg(1e-9)"), wanted, 1e-7);
  // another force is another path, of the same energy at its ends
  EXPECT_GT(std::abs(with("solver = cg(1e-12), force = cg(1e-2)") - wanted), 1e-6);
  // links and momenta in f32: the solves and H are in f64
  EXPECT_NEAR(with("solver = cg(1e-12)", "f32"), wanted, 2e-3 * std::abs(wanted) + 1e-4);
}

TEST(Pseudofermions, OtherDevicesAgree) {
  if (!testing::device("native") || !testing::device("opencl")) GTEST_SKIP() << "one device only";
  QuarkModel model{.gauge = "SU(2)", .trajectories = 2};
  testing::Simulation opencl;
  opencl.device = "opencl";
  EXPECT_NEAR(delta(model, opencl), delta(model), 1e-8);
}

/// Forwards, momenta turned round, forwards: the links of the start.
TEST(Pseudofermions, Reversible) {
  const QuarkModel model{.level = "steps = 4, scheme = omelyan2"};
  FixedQuarks quarks(model.text(), 1, 2, 16, 1.5);
  const auto [moved, left] = quarks.there_and_back();
  EXPECT_GT(moved, 0.3);
  EXPECT_LT(left, 1e-12);
}

/// U(1) on 2 x 2, beta = 1: averages by quadrature over the five angles that gauge fixing leaves.
struct Averages {
  const char* name;
  const char* quark;
  double plaquette, around;  ///< `around`: the loop along x; that along y has the other sign
  std::string options = {};
  std::string spinor = "spinor", before = {}, power = {};
};

class ExactAverages : public ::testing::TestWithParam<Averages> {};

TEST_P(ExactAverages, OfASmallBox) {
  if (!testing::device("native")) GTEST_SKIP() << "no native device";
  QuarkModel model{
      .lattice = "2^2",
      .action = "pseudofermion(D, solver = " +
                (GetParam().options.find("range") == std::string::npos ? std::string("cgne")
                                                                       : "multishift") +
                "(1e-10)" + GetParam().options + ")" + GetParam().power,
      .quark = GetParam().quark,
      .beta = 1,
      .kappa = 0.2,
      .level = "steps = 4, scheme = omelyan2",
      .trajectories = 130,
      .spinor = GetParam().spinor,
      .before = GetParam().before};
  model.more = R"(sweep chain = 1..128
p = mean(mean(re(tr(loop(x, y, -x, -y)))), over = time)
lx = mean(mean(re(path(x, x))), over = time)
ly = mean(mean(re(path(y, y))), over = time)
one = mean(exp(-deltaH), over = time)
every 130 trajectories, after = trajectory > 30: mean(p, over = chain), mean(lx, over = chain) -> "a.csv"
every 130 trajectories, after = trajectory > 30: mean(ly, over = chain), mean(one, over = chain) -> "a.csv"
every 130 trajectories, after = trajectory > 30: ep = error(mean(p, over = chain)) -> "a.csv"
every 130 trajectories, after = trajectory > 30: ex = error(mean(lx, over = chain)) -> "a.csv"
every 130 trajectories, after = trajectory > 30: ey = error(mean(ly, over = chain)) -> "a.csv"
every 130 trajectories, after = trajectory > 30: eo = error(mean(one, over = chain)) -> "a.csv"
)";
  const auto result = testing::run_text(model.text(), {});
  const auto of = [&](const std::string& name) { return testing::last(result, name); };
  EXPECT_NEAR(of("mean(p, over = chain)"), GetParam().plaquette, 4 * of("ep"));
  EXPECT_NEAR(of("mean(lx, over = chain)"), GetParam().around, 4 * of("ex"));
  EXPECT_NEAR(of("mean(ly, over = chain)"), -GetParam().around, 4 * of("ey"));
  EXPECT_NEAR(of("mean(one, over = chain)"), 1, 4 * of("eo"));
  EXPECT_LT(of("ep"), 0.006);
  EXPECT_LT(of("ex"), 0.01);
}

// Four components in two dimensions: the weight is det^4 of two components; D that is 1 on two of
// them has det^2.
constexpr const char* kTwoFlavours =
    "psi - kappa*sum((1 - gamma[mu])*(1 + 1i*gamma5*gamma[x]*gamma[y])/2*U[mu]*psi@mu, mu = "
    "directions(+,-))";
constexpr const char* kPlainClover =
    "psi - kappa*hop(psi) - kappa*sum(gamma[mu]*gamma[nu]*F[mu,nu]*psi, mu < nu)";
/// One step of stout smearing: the gradient of the plaquettes once.
constexpr const char* kStout =
    "B = sum(1 - re(tr(loop(mu, nu, -mu, -nu))), mu < nu)\nV[mu] = exp(-0.1*d(B, U[mu]))*U[mu]\n";
constexpr const char* kHopsOfV =
    "psi - kappa*sum((1 - gamma[mu])*V[mu]*psi@mu, mu = directions(+,-))";
constexpr const char* kStaggeredOf3 = "0.3*psi + sum(eta[k]*(U[k]*psi@k - U[-k]*psi@-k), k)/2";
INSTANTIATE_TEST_SUITE_P(
    Quarks, ExactAverages,
    ::testing::Values(
        Averages{"four_flavours", "psi - kappa*hop(psi)", 0.628403928866, -0.565252214189},
        Averages{"two_flavours", kTwoFlavours, 0.560235941945, -0.355606275828},
        Averages{"four_flavours_at_odd_sites", "psi - kappa*hop(psi)", 0.628403928866,
                 -0.565252214189, ", even_odd = on"},
        Averages{"two_flavours_at_odd_sites", kTwoFlavours, 0.560235941945, -0.355606275828,
                 ", even_odd = on"},
        Averages{"two_flavours_of_two_components", "psi - kappa*hop(psi)", 0.560235941945,
                 -0.355606275828, ", even_odd = on", "spinor(2)"},
        Averages{"one_flavour", "psi - kappa*hop(psi)", 0.526425630119, -0.201370211539,
                 ", even_odd = on, range = [0.12, 2.7], tol = 1e-8", "spinor(2)", "", "^(1/2)"},
        Averages{"boson", "psi - kappa*hop(psi)", 0.577704710, 0.516025387, "", "spinor(2)", "",
                 "^(-1)"},
        Averages{"root_of_a_boson", "psi - kappa*hop(psi)", 0.5178560, 0.2537389,
                 ", even_odd = on, range = [0.12, 2.7], tol = 1e-8", "spinor(2)", "", "^(-1/2)"},
        Averages{"clover", kPlainClover, 0.568379707461, -0.359641318501, "", "spinor(2)",
                 kFieldStrengthOfPhases},
        Averages{"clover_at_odd_sites", kPlainClover, 0.568379707461, -0.359641318501,
                 ", even_odd = on", "spinor(2)", kFieldStrengthOfPhases},
        Averages{"stout", kHopsOfV, 0.558019271529, -0.362509056854, ", even_odd = on", "spinor(2)",
                 kStout},
        Averages{"staggered", kStaggeredOf3, 0.590387166832, -0.318044580538,
                 ", even_odd = on, range = [0.08, 190], tol = 1e-8", "spinor(1)", kPhasesOfAPlane,
                 "^(1/2)"},
        Averages{"staggered_without_fractions", kStaggeredOf3, 0.590387166832, -0.318044580538,
                 ", even_odd = on", "spinor(1)", kPhasesOfAPlane, "^(1/2)"},
        Averages{"rooted_staggered", kStaggeredOf3, 0.5467619, -0.181896,
                 ", range = [0.08, 5], tol = 1e-8", "spinor(1)", kPhasesOfAPlane, "^(1/4)"}),
    [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace vphi
