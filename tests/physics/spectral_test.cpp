// `laplacian = spectral`, and integrators that advance the linear part in Fourier space, against
// solutions in closed form.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>

#include "program/fourier_map.hpp"
#include "tests/support/simulate.hpp"

namespace vphi::testing {
namespace {

using program::FourierMap;
using program::ModeMatrix;

constexpr double kPi = std::numbers::pi;

double ends(const std::string& text, const std::string& name = "error") {
  return last(run_text("model spectral \"waves\"\nprecision real = f64\n" + text, {}), name);
}

// ---- functions of matrices ----------------------------------------------------------------------

TEST(FourierMap, FunctionsOfANumberAreTheirFormulas) {
  for (const std::complex<long double> z :
       {std::complex<long double>(-3.0L, 0.5L), {0.25L, -2.0L}}) {
    const auto exp = program::function_of(FourierMap::Function::Exp, {z})[0];
    EXPECT_LT(std::abs(exp - std::exp(z)), 1e-18L);
    const auto phi1 = program::function_of(FourierMap::Function::Phi1, {z})[0];
    EXPECT_LT(std::abs(phi1 * z - (std::exp(z) - 1.0L)), 1e-17L);
    const auto phi2 = program::function_of(FourierMap::Function::Phi2, {z})[0];
    EXPECT_LT(std::abs(phi2 * z * z - (std::exp(z) - 1.0L - z)), 1e-17L);
  }
  EXPECT_EQ(program::function_of(FourierMap::Function::Phi2, {0.0L})[0].real(), 0.5L);
}

// exp and phi of a nilpotent matrix end after two terms; a rotation turns by its angle.
TEST(FourierMap, FunctionsOfMatricesAreTheirFormulas) {
  const ModeMatrix shift{0, 3, 5, 0, 0, 7, 0, 0, 0};
  const ModeMatrix square{0, 0, 21, 0, 0, 0, 0, 0, 0};
  const std::vector<std::pair<FourierMap::Function, std::array<long double, 3>>> series{
      {FourierMap::Function::Exp, {1, 1, 1.0L / 2}},
      {FourierMap::Function::Phi1, {1, 1.0L / 2, 1.0L / 6}},
      {FourierMap::Function::Phi2, {1.0L / 2, 1.0L / 6, 1.0L / 24}}};
  for (const auto& [function, weight] : series) {
    const ModeMatrix value = program::function_of(function, shift);
    for (std::size_t i = 0; i < 9; ++i) {
      const auto unit = i % 4 == 0 ? weight[0] : 0.0L;
      EXPECT_LT(std::abs(value[i] - unit - weight[1] * shift[i] - weight[2] * square[i]), 1e-16L);
    }
  }
  for (const long double angle : {1e-6L, 0.7L, 300.0L}) {
    const ModeMatrix turn = program::function_of(FourierMap::Function::Exp, {0, angle, -angle, 0});
    EXPECT_LT(std::abs(turn[0] - std::cos(angle)), 1e-16L);
    EXPECT_LT(std::abs(turn[1] - std::sin(angle)), 1e-16L);
    EXPECT_LT(std::abs(turn[2] + std::sin(angle)), 1e-16L);
  }
}

// ---- linear equations are exact -----------------------------------------------------------------

const std::string kRing = "lattice ring: 32, length = 2*pi, boundary = periodic\n";

TEST(Spectral, APlaneWaveHasTheFrequencyOfTheContinuum) {
  for (const int n : {1, 11, 15}) {
    EXPECT_LT(ends(kRing + "param n = " + std::to_string(n) +
                   "\nfield u: real\nlaplacian = spectral\nu'' = lap(u) - 0.5*u\n"
                   "w = sqrt(n^2 + 0.5)\ninit u = cos(n*x), u' = w*sin(n*x)\n"
                   "evolve etd2, dt = 0.3, until = t > 30\nat end: error = max(abs(u - cos(n*x - "
                   "w*t))) -> \"u.h5\"\n"),
              2e-12)
        << n;
  }
}

// sin(w dt/2) = k dt/2: leapfrog's own relation, with the k of the continuum.
TEST(Spectral, LeapfrogFollowsItsRelationWithTheContinuumsK) {
  EXPECT_LT(
      ends(kRing + "param n = 13\nfield u: real\nlaplacian = spectral\nu'' = lap(u)\n"
                   "w = 2/dt*asin(n*dt/2)\ninit u = cos(n*x), u' = 0\nevolve leapfrog, dt = 0.05, "
                   "until = t > 10\nat end: error = max(abs(u - cos(n*x)*cos(w*t))) -> \"u.h5\"\n"),
      1e-11);
}

TEST(Spectral, RungeKuttaHasItsOrderInAnyDimension) {
  const auto error = [](const std::string& dt) {
    return ends(
        "lattice box: 8*6*5, length = 2*pi, boundary = periodic\nparam k2 = 4 + 1\n"
        "field u: real\nlaplacian = spectral\nu'' = lap(u)\nq = 2*pi/(8*dx)\n"
        "init u = cos(2*q*x), u' = 0\nevolve rk4, dt = " +
        dt +
        ", until = t > 1.99\nat end: error = max(abs(u - cos(2*q*x)*cos(2*q*t))) -> "
        "\"u.h5\"\n");
  };
  EXPECT_NEAR(std::log2(error("0.05") / error("0.025")), 4, 0.1);
}

// Every component of k counts, and those of different axes are told apart.
TEST(Spectral, WavesInFourDimensionsHaveTheFrequencyOfTheContinuum) {
  for (const std::string wave : {"3*q*x", "2*q*y - q*z", "q*x + q*z", "q*y + 2*q*index(t)*dx"}) {
    const std::string k2 = wave == "3*q*x"       ? "(3*q)^2"
                           : wave == "q*x + q*z" ? "q^2 + q^2"
                                                 : "(2*q)^2 + q^2";
    EXPECT_LT(ends("lattice box: 6^4, length = 3, boundary = periodic\nfield u: real\n"
                   "laplacian = spectral\nq = 2*pi/3\nw = sqrt(" +
                   k2 + ")\nu'' = lap(u)\ninit u = cos(" + wave + "), u' = w*sin(" + wave +
                   ")\nevolve etd2, dt = 0.3, until = t > 5\nat end: error = max(abs(u - cos(" +
                   wave + " - w*t))) -> \"u.h5\"\n"),
              1e-11)
        << wave;
  }
}

TEST(Spectral, AFreePacketSpreadsExactly) {
  EXPECT_LT(ends("lattice line: 512, length = 100, boundary = periodic\nfield psi: complex\n"
                 "laplacian = spectral\nparam v = 2\npsi' = 0.5i*lap(psi)\n"
                 "init psi = exp(-x^2/2 + 1i*v*x)\nevolve split2, dt = 0.5, until = t > 2.9\n"
                 "s = 1 + 1i*t\n"
                 "exact = exp(-(x - v*t)^2/(2*s) + 1i*v*(x - v*t/2))/sqrt(s)\n"
                 "at end: error = max(abs(psi - exact)) -> \"p.h5\"\n"),
            1e-12);
}

// With neighbours instead: the exponential of any text, here one that is not symmetric.
TEST(Spectral, NeighboursAreAdvancedExactly) {
  EXPECT_LT(ends(kRing +
                 "field u: real\nu' = -(u@x - u@-x)/(2*dx) - 0.25*u\ninit u = cos(3*x)\n"
                 "evolve etd2, dt = 0.5, until = t > 9.9\n"
                 "at end: error = max(abs(u - exp(-t/4)*cos(3*x - sin(3*dx)/dx*t))) -> \"u.h5\"\n"),
            1e-13);
}

TEST(Spectral, SingleModesOfSwiftAndHohenbergGrowAtTheirRates) {
  for (const int n : {0, 2, 5, 12}) {
    EXPECT_LT(ends("lattice ring: 32, length = 8*pi, boundary = periodic\nparam eps = 0.2, k = " +
                   std::to_string(n) +
                   "/4\nfield u: real\nlaplacian = spectral\n"
                   "u' = eps*u - (u + 2*lap(u) + lap(lap(u))) - u^3\ninit u = 1e-9*cos(k*x)\n"
                   "evolve etd2, dt = 1, until = t > 9.5\nrate = eps - (1 - k^2)^2\n"
                   "at end: error = max(abs(u/(1e-9*exp(rate*t)) - cos(k*x)))*min(1, "
                   "exp(rate*t)) -> \"u.h5\"\n"),
              1e-13)
        << n;
  }
}

TEST(Spectral, CahnAndHilliardKeepsItsMassAndGrowsAtItsRate) {
  const std::string model =
      "lattice ring: 64, length = 40, boundary = periodic\nfield c: real\nlaplacian = spectral\n"
      "c' = lap(c^3 - c - lap(c))\n";
  EXPECT_LT(
      ends(model +
           "k = 2*pi*3/40\ninit c = 1e-7*cos(k*x)\nevolve etd2, dt = 0.5, until = t > 9.9\n"
           "at end: error = max(abs(c/(1e-7*exp(k^2*(1 - k^2)*t)) - cos(k*x))) -> \"c.h5\"\n"),
      1e-12);
  const std::string text = "model spectral \"waves\"\nprecision real = f64\n" + model +
                           "init c ~ normal(0.2, 0.1)\nevolve etd2, dt = 0.05, until = t > 100\n"
                           "every 200 steps: mean(c), var(c) -> \"c.h5\"\n";
  const auto result = run_text(text, {});
  const auto* mean = result.find("mean(c)");
  EXPECT_NEAR(mean->points.back().second, mean->points.front().second, 1e-15);
  EXPECT_GT(last(result, "var(c)"), 0.3);  // it has parted
}

// ---- nonlinear equations: orders, and what is kept
// ------------------------------------------------

std::string soliton(const std::string& integrator, const std::string& dt) {
  return "lattice line: 256, length = 50, boundary = periodic\nfield psi: complex\n"
         "laplacian = spectral\npsi' = 1i*(lap(psi)/2 + norm2(psi)*psi)\n"
         "init psi = exp(1i*x)/cosh(x)\nevolve " +
         integrator + ", dt = " + dt +
         ", until = t > 1.99\n"
         "at end: error = max(abs(psi - exp(1i*x)/cosh(x - t))), N = dx*total(norm2(psi)) -> "
         "\"s.h5\"\n";
}

TEST(Spectral, SplitStepsHaveTheirOrders) {
  EXPECT_NEAR(std::log2(ends(soliton("split2", "0.02")) / ends(soliton("split2", "0.01"))), 2,
              0.05);
  EXPECT_NEAR(std::log2(ends(soliton("split4", "0.04")) / ends(soliton("split4", "0.02"))), 4, 0.2);
  EXPECT_NEAR(std::log2(ends(soliton("etd2", "0.004")) / ends(soliton("etd2", "0.002"))), 2, 0.1);
}

TEST(Spectral, SplitStepsKeepTheNorm) {
  EXPECT_NEAR(ends(soliton("split2", "0.01"), "N"), 2, 2e-13);
}

// u' = u - u^3 at every site: u^2 = 1/(1 + (1/u0^2 - 1) exp(-2 t))
TEST(Spectral, RealMultiplesHaveOrderTwo) {
  const auto error = [](const std::string& integrator, const std::string& dt) {
    return ends(kRing + "field u: real\nu' = lap(u) + u - u^3\ninit u = 0.1\nevolve " + integrator +
                ", dt = " + dt +
                ", until = t > 3.99\nat end: error = max(abs(u - 1/sqrt(1 + 99*exp(-2*t)))) -> "
                "\"u.h5\"\n");
  };
  for (const char* integrator : {"split2", "etd2"})
    EXPECT_NEAR(std::log2(error(integrator, "0.02") / error(integrator, "0.01")), 2, 0.1);
}

// A rest that depends on t: u' = -u + cos(t), from u = 1/2: u = (cos(t) + sin(t))/2.
TEST(Spectral, TheRestMayDependOnTime) {
  const auto error = [](const std::string& dt) {
    return ends(kRing +
                "field u: real\nu' = lap(u) - u + cos(t)\ninit u = 0.5\nevolve etd2, dt = " + dt +
                ", until = t > 3.99\nat end: error = max(abs(u - (cos(t) + sin(t))/2)) -> "
                "\"u.h5\"\n");
  };
  EXPECT_NEAR(std::log2(error("0.1") / error("0.05")), 2, 0.1);
}

// Ground state in a trap: 3.9459442 is docs/models.md's independent value; Thomas and Fermi's
// chemical potential is sqrt(g/pi), from which g = 100 is 2.1 % away.
TEST(Spectral, ATrappedGasHasItsGroundState) {
  const auto result = run_text(
      "model trapped \"gas\"\nparam g = 100\nlattice plane: 32^2, length = 16, boundary = "
      "periodic\nfield psi: complex\nlaplacian = spectral\nV = r^2/2\n"
      "N = dx^2*total(norm2(psi))\npsi' = lap(psi)/2 - (V + g*norm2(psi)/N)*psi\n"
      "limit psi = psi/sqrt(N)\ninit psi = exp(-r^2/8)\n"
      "evolve split2, dt = 0.01, until = t > 6\nprecision real = f64\n"
      "E = dx^2*total(norm2(grad(psi))/2 + V*norm2(psi) + g*norm2(psi)^2/2)\n"
      "mu = E + dx^2*total(g*norm2(psi)^2/2)\nat end: E, mu -> \"t.h5\"\n",
      {});
  EXPECT_NEAR(last(result, "E"), 3.9459442, 1e-6);
  EXPECT_NEAR(last(result, "mu") / std::sqrt(100 / kPi), 1.0209, 1e-4);
}

// ---- the rest of a run
// ----------------------------------------------------------------------------

// lap(u^2) of u = A cos(5 x): u^2 is A^2/2 and a wave of 10.
TEST(Spectral, OutputsHaveTheLaplacianOfFormulas) {
  EXPECT_LT(
      ends(kRing + "field u: real\nlaplacian = spectral\nu' = 0.01*lap(u)\ninit u = cos(5*x)\n"
                   "evolve rk4, dt = 0.1, until = t > 0.95\n"
                   "at end: error = max(abs(lap(u) + 25*u)) + max(abs(lap(lap(u)) - 625*u)) + "
                   "abs(mean(norm2(grad(u))) - 25*mean(u^2)) + max(abs(lap(u^2) + 100*(u^2 - "
                   "mean(u^2)))) -> \"u.h5\"\n"),
      1e-11);
}

TEST(Spectral, NothingMovesAfterTheEnd) {
  const auto result = run_text(
      "model stops \"by itself\"\nlattice ring: 16, length = 1, boundary = periodic\n"
      "field u: real\nu' = -u + 1e-3*lap(u)\ninit u = 1\n"
      "evolve etd2, dt = 0.01, until = mean(u) < 0.5\nprecision real = f64\n"
      "at end: mean(u), t -> \"u.h5\"\n",
      {});
  EXPECT_LT(last(result, "mean(u)"), 0.5);
  EXPECT_GT(last(result, "mean(u)"), 0.5 * std::exp(-0.011));
}

TEST(Spectral, OpenCLMakesTheSameMaps) {
  if (!device("opencl")) GTEST_SKIP() << "no OpenCL device";
  Simulation setup;
  setup.device = "opencl";
  const std::string text =
      "model spectral \"waves\"\nprecision real = f64\n" + soliton("split2", "0.02");
  EXPECT_NEAR(last(run_text(text, setup), "error"), last(run_text(text, {}), "error"), 1e-12);
}

TEST(Spectral, ExplainNamesTheLinearPart) {
  const auto compiled = compile_text(
      "model spectral \"waves\"\n" + kRing +
          "field u: real\nu' = lap(u) - 2*u - u^3\ninit u = cos(x)\nevolve split2, dt = 0.1, until "
          "= t > 1\nat end: mean(u) -> \"u.h5\"\n",
      {});
  std::string remarks;
  for (const std::string& remark : compiled.plan->remarks) remarks += remark + "\n";
  EXPECT_NE(remarks.find("split2: A holds the rates"), std::string::npos) << remarks;
  EXPECT_EQ(remarks.find("u^3 of u"), std::string::npos) << remarks;
}

}  // namespace
}  // namespace vphi::testing
