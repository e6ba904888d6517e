// Powers of determinants without `range`: the bounds of the spectrum that the compiler derives from
// the operator's terms, against formulas, which free quarks attain, and against the spectrum of
// links at random; trajectories with these bounds and with a written range.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

/// A model with the power 1/2 of a determinant, whose links hardly move.
struct PowerModel {
  std::string quark = "psi - kappa*hop(psi)";
  std::string lattice = "4^2", gauge = "U(1)", spinor = "spinor(2)";
  std::string options = {}, before = {}, start = "~ cold";
  double kappa = 0.2;
  double tau = 1e-9;

  std::string text() const {
    const std::string hop =
        spinor == "spinor(1)"
            ? ""
            : "hop(psi) = sum((1 - gamma[mu])*U[mu]*psi@mu, mu = directions(+,-))\n";
    return "model power\nparam kappa = " + testing::exact(kappa) +
           ", mu_q = 0.3, m = 0.2\nlattice grid: " + lattice + "\ngauge U: " + gauge +
           "\nfermion psi: " + spinor + "\n" + hop + before + "D(psi) = " + quark +
           "\naction S = pseudofermion(D, solver = multishift(1e-10), tol = 1e-8" + options +
           ")^(1/2)\nsample hmc, trajectories = 1, tau = " + testing::exact(tau) +
           " {\n  level S: steps = 4, scheme = omelyan2\n}\ninit U " + start +
           "\nevery 1 trajectory: low = smallest(S), high = largest(S), deltaH -> \"p.csv\"\n";
  }
};

/// The range of the rational functions of a program.
std::pair<double, double> range_of(const Compilation& compiled) {
  for (const program::Solve& solve : compiled.program->solves)
    if (solve.value_slot >= 0) return {solve.low, solve.high};
  ADD_FAILURE() << "no solve finds an eigenvalue";
  return {};
}

constexpr const char* kPhasesOfStaggered = "eta[k] = 1 if k == x else 1 - 2*mod(index(x), 2)\n";
const std::string kTwistedPower = "psi + 2i*kappa*mu_q*gamma5*psi - kappa*hop(psi)";
const std::string kStaggeredPower = "m*psi + sum(eta[k]*(U[k]*psi@k - U[-k]*psi@-k), k)/2";
const std::string kOdd = ", even_odd = on";

/// Wilson quarks in d dimensions (1 -+ 2 d kappa)^2, at odd sites (1 -+ (2 d kappa)^2)^2; a twisted
/// mass adds (2 kappa mu)^2; staggered quarks m^2 and m^2 + d^2. Free quarks of momentum 0 and pi
/// have both ends.
TEST(PowerRange, IsThatOfFreeQuarks) {
  if (!testing::device("native")) GTEST_SKIP() << "no native device";
  struct Known {
    PowerModel model;
    double low, high;
    bool lowest, highest;  ///< whether momenta of the box have these ends
  };
  const double twist = std::pow(2 * 0.1 * 0.3, 2);
  const std::vector<Known> all = {
      {{}, 0.04, 3.24, true, true},
      {{.options = kOdd}, std::pow(1 - 0.64, 2), std::pow(1.64, 2), true, false},
      {{.lattice = "4^3", .gauge = "SU(2)", .spinor = "spinor", .kappa = 0.1},
       0.16,
       2.56,
       true,
       true},
      {{.quark = kTwistedPower,
        .lattice = "2^4",
        .gauge = "SU(3)",
        .spinor = "spinor",
        .kappa = 0.1},
       0.04 + twist,
       3.24 + twist,
       true,
       true},
      {{.quark = kStaggeredPower, .spinor = "spinor(1)", .before = kPhasesOfStaggered},
       0.04,
       4.04,
       true,
       false},
  };
  for (const Known& known : all) {
    SCOPED_TRACE(known.model.quark + known.model.lattice + known.model.options);
    const Compilation compiled = testing::compile_text(known.model.text(), {});
    const auto [low, high] = range_of(compiled);
    EXPECT_NEAR(low, known.low, 2e-9 * known.low);
    EXPECT_NEAR(high, known.high, 2e-9 * known.high);
    const auto result = testing::run_program(*compiled.program, {});
    if (known.lowest) {
      EXPECT_NEAR(testing::last(result, "low"), known.low, 1e-4 * known.low);
    }
    if (known.highest) {
      EXPECT_NEAR(testing::last(result, "high"), known.high, 1e-4 * known.high);
    }
  }
}

/// Words of two links, clover terms, weights of the axis and of the site, links at random.
TEST(PowerRange, HoldsTheSpectrum) {
  if (!testing::device("native")) GTEST_SKIP() << "no native device";
  const std::string clover =
      "C[mu,nu] = loop(mu, nu, -mu, -nu) + loop(nu, -mu, -nu, mu) + loop(-mu, -nu, mu, nu) + "
      "loop(-nu, mu, nu, -mu)\nF[mu,nu] = (C[mu,nu] - conj(C[mu,nu]))/8\n";
  const std::string with_clover =
      "psi - kappa*hop(psi) - 0.4*sum(gamma[mu]*gamma[nu]*F[mu,nu]*psi, mu < nu)";
  std::vector<PowerModel> all = {
      {.quark = with_clover, .before = clover, .kappa = 0.12},
      {.quark = with_clover, .options = kOdd, .before = clover, .kappa = 0.12},
      {.quark = kTwistedPower},
      {.quark = kTwistedPower, .options = kOdd},
      {.quark = "psi + 0.1*gamma[x]*(path(x, y)*psi@(1,1)) - kappa*hop(psi)", .kappa = 0.1},
      {.quark = "psi - kappa*(1 + index(y)/6)*hop(psi)", .kappa = 0.15},
      {.quark = kStaggeredPower, .spinor = "spinor(1)", .before = kPhasesOfStaggered},
  };
  for (PowerModel model : all) {
    SCOPED_TRACE(model.quark + model.options);
    model.start = "~ hot";
    const Compilation compiled = testing::compile_text(model.text(), {});
    const auto [low, high] = range_of(compiled);
    const auto result = testing::run_program(*compiled.program, {});
    const double smallest = testing::last(result, "low"), largest = testing::last(result, "high");
    EXPECT_GE(smallest, low);
    EXPECT_LE(largest, high);
    EXPECT_GT(low, 1e-5 * high);  // a bound by the terms
    EXPECT_LT(high, 3 * largest);
  }
}

/// One range for all values of a sweep: the ends of all of them.
TEST(PowerRange, OfASweepIsThatOfAllItsValues) {
  if (!testing::device("native")) GTEST_SKIP() << "no native device";
  for (const bool odd : {false, true}) {
    std::string text = PowerModel{.options = odd ? kOdd : "", .start = "~ hot"}.text();
    const std::string own = "param kappa = " + testing::exact(0.2) + ", ";
    text.replace(text.find(own), own.size(), "sweep kappa = [0.2, 0.05]\nparam ");
    const Compilation compiled = testing::compile_text(text, {});
    const auto [low, high] = range_of(compiled);
    const double hops = odd ? 0.64 : 0.8;
    EXPECT_NEAR(low, std::pow(1 - hops, 2), 1e-8);
    EXPECT_NEAR(high, std::pow(1 + hops, 2), 1e-8);
    testing::run_program(*compiled.program, {});  // ends where a value is outside
  }
}

/// Where the hops are as large as the mass, low is a small part of high.
TEST(PowerRange, IsWatchedWithoutABound) {
  if (!testing::device("native")) GTEST_SKIP() << "no native device";
  PowerModel model{.kappa = 0.3};
  const Compilation compiled = testing::compile_text(model.text(), {});
  const auto [low, high] = range_of(compiled);
  EXPECT_NEAR(high, std::pow(1 + 4 * 0.3, 2), 1e-8);
  EXPECT_NEAR(low, 1e-6 * high, 1e-14);
  bool told = false;
  for (const std::string& remark : compiled.system->remarks)
    told = told || remark.find("which a run watches") != std::string::npos;
  EXPECT_TRUE(told);
}

TEST(PowerRange, TrajectoriesAreThoseOfAWrittenRange) {
  if (!testing::device("native")) GTEST_SKIP() << "no native device";
  const auto delta = [](const std::string& options, const std::string& device) {
    const PowerModel model{.options = options, .start = "~ hot", .tau = 1};
    testing::Simulation setup;
    setup.device = device;
    return testing::last(testing::run_text(model.text(), setup), "deltaH");
  };
  for (const std::string& options : {std::string(), kOdd}) {
    const double own = delta(options, "native");
    EXPECT_GT(std::abs(own), 1e-5);
    EXPECT_NEAR(own, delta(options + ", range = [0.03, 4]", "native"), 1e-6);
    if (options == kOdd && testing::device("opencl")) {
      EXPECT_NEAR(own, delta(options, "opencl"), 1e-6);
    }
  }
}

}  // namespace
}  // namespace vphi
