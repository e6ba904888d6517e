// iterations(S), residual(S) and force(S) of actions in trajectories, and `start = past(k)`: rounds
// of an operator whose eigenvalues are counted, forces against formulas of the state and against an
// independent program, what earlier solutions change and what they do not.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/physics/gauge/fixed_quarks.hpp"

namespace vphi {
namespace {

using testing::FixedQuarks;
using testing::last;

/// Wilson quarks on a ring of L links of U(1): D adj(D) = 1 + 4 kappa^2 - 4 kappa cos p with
/// p = (theta + pi (2 n + 1))/L. It has L different eigenvalues, so that conjugate gradients end
/// after L rounds, whatever the links are.
std::string ring(int sites, const std::string& options, int steps, int trajectories = 1) {
  return "model ring \"quarks on a ring\"\nparam kappa = 0.3\nlattice ring: " +
         std::to_string(sites) +
         "\ngauge U: U(1)\nfermion psi: spinor, boundary(x) = antiperiodic\n"
         "D(psi) = psi - kappa*sum((1 - gamma[mu])*U[mu]*psi@mu, mu = directions(+,-))\n"
         "action quarks = pseudofermion(D, " +
         options + ")\nsample hmc, trajectories = " + std::to_string(trajectories) +
         ", tau = 0.5 {\n  level quarks: steps = " + std::to_string(steps) +
         ", scheme = leapfrog\n}\ninit U ~ hot\nevery 1 trajectory: n = iterations(quarks), r = "
         "residual(quarks), f = force(quarks), deltaH -> \"r.csv\"\n";
}

TEST(WatchedActions, RoundsAreThoseOfTheEigenvalues) {
  if (!testing::device("native")) GTEST_SKIP() << "no native device";
  struct Case {
    int sites;
    const char* options;
    int steps, rounds, trajectories;
  };
  // leapfrog of n steps has n + 1 kicks, whose last solution is that of the acceptance as well
  const Case cases[] = {
      {4, "solver = cg(1e-8)", 3, 4 * 4, 1},
      {4, "solver = cg(1e-8)", 3, 4 * 4, 3},  // of the last trajectory alone
      {6, "solver = cg(1e-8)", 2, 3 * 6, 1},
      {4, "solver = cgne(1e-8)", 3, 2 * 4 * 4, 1},              // D and adj(D)
      {4, "solver = cg(1e-8), force = cg(1e-9)", 3, 5 * 4, 1},  // one more for the end
      {4, "solver = cg(1e-8), even_odd = on", 3, 4 * 2, 1},     // M adj(M) has half of them
  };
  for (const Case& c : cases) {
    const auto result = testing::run_text(ring(c.sites, c.options, c.steps, c.trajectories), {});
    EXPECT_EQ(last(result, "n"), c.rounds) << c.options << ", " << c.sites;
    EXPECT_GT(last(result, "r"), 0);
    EXPECT_LT(last(result, "r"), 1e-8);
  }
}

/// One flavour on the ring, and the angle of its links, which stand still: D adj(D) is
/// 1 + 4 kappa^2 - 4 kappa cos p, at odd sites 1 + 16 kappa^4 - 8 kappa^2 cos 2p.
std::string power_on_ring(const std::string& range, const std::string& power = "(1/2)",
                          const std::string& sweep = "") {
  return "model ring \"a flavour on a ring\"\nparam kappa = 0.3\n" + sweep +
         "lattice ring: 6\ngauge U: U(1)\nfermion psi: spinor, boundary(x) = antiperiodic\n"
         "D(psi) = psi - kappa*sum((1 - gamma[mu])*U[mu]*psi@mu, mu = directions(+,-))\n"
         "action quarks = pseudofermion(D, tol = 1e-6, range = " +
         range + ")^" + power +
         "\nsample hmc, trajectories = 2, tau = 1e-7 {\n  level quarks: steps = 1, scheme = "
         "leapfrog\n}\ninit U ~ hot\nevery 1 trajectory: low = smallest(quarks), high = "
         "largest(quarks), angle = arg(polyakov) -> \"r.csv\"\n";
}

TEST(WatchedActions, EndsOfTheSpectrum) {
  if (!testing::device("native")) GTEST_SKIP() << "no native device";
  const double kappa = 0.3, pi = std::acos(-1.0);
  for (const bool halves : {false, true}) {
    for (const char* power : {"(1/2)", "(3/4)"}) {
      const auto result = testing::run_text(
          power_on_ring(halves ? "[0.4, 1.86], even_odd = on" : "[0.15, 2.57]", power), {});
      double low = 1e9, high = 0;
      for (int n = 0; n < 6; ++n) {
        const double p = (last(result, "angle") + pi * (2 * n + 1)) / 6;
        const double value = halves
                                 ? 1 + 16 * std::pow(kappa, 4) - 8 * kappa * kappa * std::cos(2 * p)
                                 : 1 + 4 * kappa * kappa - 4 * kappa * std::cos(p);
        low = std::min(low, value), high = std::max(high, value);
      }
      EXPECT_NEAR(last(result, "low"), low, 1e-5 * low);
      EXPECT_NEAR(last(result, "high"), high, 1e-5 * high);
    }
  }
}

/// Code, text and hint of the error that a run ends with; none: it ends well.
std::string failure(const std::string& text) {
  try {
    testing::run_text(text, {});
  } catch (const runtime::RunError& error) {
    return error.code + ": " + error.what() + "; " + error.hint;
  }
  return "";
}

TEST(WatchedActions, RangesThatDoNotHoldTheSpectrumAreRefused) {
  if (!testing::device("native")) GTEST_SKIP() << "no native device";
  const std::string above = failure(power_on_ring("[0.15, 1.5]", "(1/2)", "sweep chain = 1..3\n"));
  EXPECT_TRUE(above.starts_with("E0821: quarks, the largest eigenvalue of D adj(D) is 2."))
      << above;
  EXPECT_NE(above.find("in step 1, outside of range = [0.15, 1.5] (`"), std::string::npos) << above;
  EXPECT_NE(above.find("line 8), at chain = 1; range = [0.15, 2."), std::string::npos) << above;
  const std::string below = failure(power_on_ring("[0.7, 1.86], even_odd = on"));
  EXPECT_TRUE(
      below.starts_with("E0821: quarks, the smallest eigenvalue of D adj(D) at odd sites is 0."))
      << below;
  EXPECT_EQ(failure(power_on_ring("[0.15, 2.57]")), "");
}

/// Wilson quarks with a clover term at odd sites in a constant field of U(1) on 4^2: F = i sin B,
/// so that R = 1 + kappa csw sigma_z sin B. Links stand still.
std::string in_constant_field(double csw) {
  return "model field\nparam kappa = 0.2, csw = " + testing::exact(csw) +
         ", f = 3*pi/8\nlattice grid: 4^2\ngauge U: U(1)\nfermion psi: spinor(2)\n"
         "C[mu,nu] = loop(mu, nu, -mu, -nu) + loop(nu, -mu, -nu, mu) + loop(-mu, -nu, mu, nu) + "
         "loop(-nu, mu, nu, -mu)\nF[mu,nu] = (C[mu,nu] - conj(C[mu,nu]))/8\n"
         "D(psi) = psi - kappa*sum((1 - gamma[mu])*U[mu]*psi@mu, mu = directions(+,-)) - "
         "kappa*csw*sum(gamma[mu]*gamma[nu]*F[mu,nu]*psi, mu < nu)\n"
         "action quarks = pseudofermion(D, solver = cg(1e-13), even_odd = on)\n"
         "action ratio = pseudofermion(D, solver = cg(1e-13), even_odd = on)/pseudofermion(D, csw "
         "= csw/2, solver = cg(1e-13), even_odd = on)\n"
         "sample hmc, trajectories = 1, tau = 1e-9 {\n  level quarks, ratio: steps = 1, scheme = "
         "leapfrog\n}\ninit U[k] = exp(1i*f*(index(x)*(k == y) - 4*index(y)*(k == x)*(index(x) "
         "== 3)))\nevery 1 trajectory: l = logdet(quarks), m = logdet(ratio), s = total(quarks), "
         "r = total(ratio) -> \"q.csv\"\n";
}

TEST(WatchedActions, ActionAndLogarithmAtTheEnd) {
  if (!testing::device("native")) GTEST_SKIP() << "no native device";
  const auto logarithm = [](double csw) {
    return 8 * std::log(1 - std::pow(0.2 * csw * std::sin(3 * std::acos(-1.0) / 8), 2));
  };
  const auto with = testing::run_text(in_constant_field(3), {}),
             without = testing::run_text(in_constant_field(1e-9), {});
  EXPECT_NEAR(last(with, "l"), logarithm(3), 1e-12);
  EXPECT_NEAR(last(with, "m"), logarithm(3) - logarithm(1.5), 1e-12);
  // the same eta: S is |eta|^2 - 2 log|det R|
  EXPECT_GT(last(without, "s"), 4);
  EXPECT_NEAR(last(with, "s"), last(without, "s") - 2 * logarithm(3), 1e-7);
  EXPECT_NEAR(last(with, "r"), last(without, "r") - 2 * (logarithm(3) - logarithm(1.5)), 1e-7);
}

/// A trajectory there and back: to rounding from zero starts, to the tolerance of the kicks from
/// earlier solutions. The chain is that without it, to the bit.
TEST(WatchedActions, Reversibility) {
  if (!testing::device("native")) GTEST_SKIP() << "no native device";
  const auto chain = [](const std::string& options, const std::string& more) {
    return testing::run_text(
        "model back\nparam kappa = 0.2\nlattice grid: 4^2\ngauge U: U(1)\nfield phi: real\n"
        "fermion psi: spinor(2), boundary(y) = antiperiodic\nD(psi) = psi + 0.1*phi*psi - "
        "kappa*sum((1 - gamma[mu])*U[mu]*psi@mu, mu = directions(+,-))\n"
        "action quarks = pseudofermion(D, " +
            options +
            ")\naction glue = sum(2 - re(tr(loop(mu, nu, -mu, -nu))), mu < nu) + phi^2\n"
            "sample hmc, trajectories = 3, tau = 1 {\n  level quarks, glue: steps = 4, scheme = "
            "omelyan2\n}\ninit U ~ hot\ninit phi ~ normal\nevery 1 trajectory: deltaH, n = "
            "iterations(quarks), p = mean(re(tr(loop(x, y, -x, -y))) + phi)" +
            more + " -> \"b.csv\"\n",
        {});
  };
  const std::string zero = "solver = cg(1e-12)";
  const std::string past = "solver = cg(1e-12), force = cg(1e-8), start = past(3)";
  for (const std::string& options : {zero, past}) {
    const auto with = chain(options, ", r = reversibility"), without = chain(options, "");
    for (const char* name : {"deltaH", "n", "p"}) EXPECT_EQ(last(with, name), last(without, name));
    EXPECT_LT(last(with, "r"), options == zero ? 1e-12 : 1e-6);
    EXPECT_GT(last(with, "r"), options == zero ? 0 : 1e-11);
  }
}

/// Every third trajectory is made back where outputs ask for no other: the same numbers there, the
/// same chain, and launches of the way back in one list of three.
TEST(WatchedActions, ReversibilityOfSomeTrajectories) {
  if (!testing::device("native")) GTEST_SKIP() << "no native device";
  const auto text = [](const std::string& outputs) {
    return "model back\nlattice grid: 4^2\ngauge U: SU(2)\n"
           "action glue = sum(2 - re(tr(loop(mu, nu, -mu, -nu))), mu < nu)\n"
           "sample hmc, trajectories = 9, tau = 1 {\n  level glue: steps = 4, scheme = "
           "omelyan2\n}\n"
           "init U ~ hot\nevery 1 trajectory: deltaH, p = mean(re(tr(loop(x, y, -x, -y)))) -> "
           "\"b.csv\"\n" +
           outputs;
  };
  const std::string third = "every 3 trajectories: r = reversibility -> \"r.csv\"\n";
  const auto some = testing::run_text(text(third), {});
  const auto each =
      testing::run_text(text("every 1 trajectory: r = reversibility -> \"r.csv\"\n"), {});
  const auto values = [](const runtime::RunResult& run) {
    std::vector<double> found;
    for (const auto& [t, value] : run.find("r")->points) found.push_back(value);
    return found;
  };
  const std::vector<double> rare = values(some), often = values(each);
  ASSERT_EQ(rare.size(), 4u);
  ASSERT_EQ(often.size(), 10u);
  for (std::size_t i = 0; i < rare.size(); ++i) EXPECT_EQ(rare[i], often[3 * i]);
  EXPECT_GT(rare[1], 0);
  EXPECT_NE(rare[1], rare[2]);
  for (const char* name : {"deltaH", "p"}) EXPECT_EQ(last(some, name), last(each, name));
  const auto launches = [&](const std::string& outputs) {
    const Compilation c = testing::compile_text(text(outputs), {});
    std::vector<std::size_t> counts;
    for (std::int64_t step = 0; step < 3; ++step)
      counts.push_back(c.program->launches(step).size());
    return counts;
  };
  const auto of_some = launches(third), of_none = launches("");
  EXPECT_EQ(of_some[0], of_none[0]);
  EXPECT_EQ(of_some[1], of_none[0]);
  EXPECT_GT(of_some[2], of_none[0] * 3 / 2);
  // averages over trajectories need each of them
  const auto averaged = launches(third +
                                 "mean_r = mean(reversibility, over = time)\n"
                                 "at end: mean_r -> \"m.csv\"\n");
  EXPECT_GT(averaged[0], of_none[0] * 3 / 2);
}

/// The largest residual is that of the solver with the largest tolerance.
TEST(WatchedActions, ResidualIsTheLargest) {
  if (!testing::device("native")) GTEST_SKIP() << "no native device";
  const auto result = testing::run_text(
      "model quarks\nparam kappa = 0.2\nlattice grid: 4^2\ngauge U: SU(2)\nfermion psi: spinor\n"
      "D(psi) = psi - kappa*sum((1 - gamma[mu])*U[mu]*psi@mu, mu = directions(+,-))\n"
      "action quarks = pseudofermion(D, solver = cg(1e-12), force = cg(1e-3))\n"
      "sample hmc, trajectories = 2, tau = 0.5 {\n  level quarks: steps = 3, scheme = leapfrog\n}\n"
      "init U ~ hot\nevery 1 trajectory: r = residual(quarks) -> \"r.csv\"\n",
      {});
  EXPECT_GT(last(result, "r"), 1e-5);
  EXPECT_LT(last(result, "r"), 1e-3);
}

/// An accepted trajectory of leapfrog ends with a kick at the fields that are written.
TEST(WatchedActions, ForceIsTheSlopeOfTheAction) {
  if (!testing::device("native")) GTEST_SKIP() << "no native device";
  const auto result = testing::run_text(
      "model two\nparam beta = 1.3, m = 0.7\nlattice grid: 4 * 6\ngauge U: U(1)\nfield phi: "
      "vec(2)\n"
      "action glue = beta*sum(1 - re(loop(mu, nu, -mu, -nu)), mu < nu)\n"
      "action mass = m/2*norm2(phi)\n"
      "sample hmc, trajectories = 3, tau = 0.01 {\n  level glue: steps = 2, scheme = leapfrog\n"
      "  level mass: steps = 1, scheme = leapfrog\n}\ninit U ~ hot\ninit phi ~ normal\n"
      "P = im(loop(x, y, -x, -y))\n"
      "every 1 trajectory: g = force(glue), f = force(mass), accept, by_hand = "
      "beta*sqrt(mean((P - P@-y)^2 + (P - P@-x)^2)/2), by_mass = m*sqrt(mean(norm2(phi))/2) -> "
      "\"f.csv\"\n",
      {});
  EXPECT_EQ(last(result, "accept"), 1);
  EXPECT_GT(last(result, "g"), 0.3);
  EXPECT_NEAR(last(result, "g"), last(result, "by_hand"), 1e-12);
  EXPECT_NEAR(last(result, "f"), last(result, "by_mass"), 1e-12);
}

std::string quarks(const std::string& options, const std::string& gauge, const std::string& lattice,
                   double kappa, int steps, double tau) {
  return "model quarks\nparam kappa = " + testing::exact(kappa) + "\nlattice grid: " + lattice +
         "\ngauge U: " + gauge + "\nfermion psi: spinor, boundary(y) = antiperiodic\n" +
         "D(psi) = psi - kappa*sum((1 - gamma[mu])*U[mu]*psi@mu, mu = directions(+,-))\n" +
         "action quarks = pseudofermion(D, " + options +
         ")\nsample hmc, trajectories = 1, tau = " + testing::exact(tau) +
         " {\n  level quarks: steps = " + std::to_string(steps) +
         ", scheme = leapfrog\n}\ninit U ~ hot\nevery 1 trajectory: n = iterations(quarks), f = "
         "force(quarks), deltaH, p = mean(re(tr(loop(x, y, -x, -y)))) -> \"q.csv\"\n";
}

/// The sum of the squares of the forces of an independent program (specification of
/// fixed_quarks.hpp).
TEST(WatchedActions, ForceOfQuarksIsKnown) {
  FixedQuarks fixed(quarks("solver = cgne(1e-14)", "U(1)", "4^2", 0.24, 4, 1), 1, 2, 16, 1.5);
  fixed.action();
  fixed.slopes();
  const double squares = 485.2196084919;
  EXPECT_NEAR(fixed.scalar("trajectory_force_1_now"),
              std::sqrt(squares / static_cast<double>(fixed.momenta())), 1e-9);
}

// ---- starts from earlier solutions --------------------------------------------------------------

/// With tolerances that are small the path is the same, in fewer rounds.
TEST(Past, FewerRoundsOfTheSamePath) {
  if (!testing::device("native")) GTEST_SKIP() << "no native device";
  for (const std::string solver : {"cg(1e-10)", "cgne(1e-10)"}) {
    SCOPED_TRACE(solver);
    const auto run = [&](const std::string& more) {
      return testing::run_text(quarks("solver = " + solver + more, "U(1)", "8^2", 0.2, 16, 0.4),
                               {});
    };
    // both have a solve of its own for the end
    const auto zero = run(", force = " + solver), past = run(", start = past(4)");
    EXPECT_LT(last(past, "n"), 0.7 * last(zero, "n"));
    EXPECT_NEAR(last(past, "deltaH"), last(zero, "deltaH"), 1e-6);
    EXPECT_NEAR(last(past, "p"), last(zero, "p"), 1e-7);
    EXPECT_NEAR(last(past, "f"), last(zero, "f"), 1e-7);
  }
}

TEST(Past, MoreSolutionsMakeFewerRounds) {
  if (!testing::device("native")) GTEST_SKIP() << "no native device";
  double before = 1e9;
  for (const int k : {0, 1, 3}) {
    const std::string start =
        k == 0 ? "force = cg(1e-10)" : "start = past(" + std::to_string(k) + ")";
    const auto result = testing::run_text(
        quarks("solver = cg(1e-10), even_odd = on, " + start, "U(1)", "8^2", 0.2, 16, 0.4), {});
    EXPECT_LT(last(result, "n"), 0.95 * before) << k;
    before = last(result, "n");
  }
}

/// There and back with a history, which solves of the way back do not have: the links differ by
/// what the tolerance of the solves allows.
TEST(Past, ReversibleAsFarAsSolvesAreExact) {
  for (const double tolerance : {1e-9, 1e-12}) {
    const std::string options = "solver = cg(" + testing::exact(tolerance) + "), start = past(3)";
    FixedQuarks fixed(quarks(options, "U(1)", "4^2", 0.24, 8, 1), 1, 2, 16, 1.5);
    const auto [moved, left] = fixed.there_and_back();
    EXPECT_GT(moved, 0.1);
    EXPECT_LT(left, 10 * tolerance);
  }
}

}  // namespace
}  // namespace vphi
