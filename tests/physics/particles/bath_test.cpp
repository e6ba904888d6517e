// Noise added to the equations of a Hamiltonian, and noise of vectors: equipartition, diffusion,
// and that components and bodies have noises of their own.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::last;
using testing::run_text;
using testing::Simulation;

class Bath : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    setup_.device = GetParam();
    if (!testing::device(setup_.device)) GTEST_SKIP() << "no " << setup_.device;
  }
  Simulation setup_;
};

/// Two kinds of rotors, coupled all to all, in a bath: <p^2> = T, whatever the coupling. baoab has
/// the positions' distribution exact to order dt^2, (theta dt)^2/12 here: far below the errors.
const std::string kRotors =
    "model rotors\nparam N = 100\nparticles red: 50\nparticles blue: 50\nsweep T = [0.2, 0.6]\n"
    "sweep path = 1..8\nvar x[k]: angle, p[k]: real\ng[k] = red[k] + 2*blue[k]\n"
    "H = sum(p[k]^2/2, k) + sum(g[k]*g[l]*(1 - cos(x[k] - x[l])), k, l)/(2*N)\n"
    "p[k]' = derived - 0.5*p[k] + sqrt(2*0.5*T)*noise[k]\n"
    "init x ~ uniform(0, 2*pi), p ~ sqrt(T)*normal\nevolve baoab, dt = 0.05, until = t > 100\n"
    "every 1000 steps, after = t > 20: H -> \"s.h5\"\n"
    "at end: red_all = mean(sum(red[k]*p[k]^2, k)/50, over = [path, time]), "
    "blue_all = mean(sum(blue[k]*p[k]^2, k)/50, over = [path, time]) -> \"s.h5\"\n";

TEST_P(Bath, EquipartitionOfTwoSpeciesUnderAHamiltonian) {
  const auto r = run_text(kRotors, setup_);
  for (const char* name : {"red_all", "blue_all"}) {
    const auto* found = r.find(name);
    ASSERT_TRUE(found);
    for (const std::size_t place : {0U, 1U}) {
      const double t = place == 0 ? 0.2 : 0.6, error = found->errors.back()[place];
      EXPECT_LT(error, 0.03 * t);
      EXPECT_NEAR(found->values.back()[place], t, 4 * error) << name << ", seed 1, 4 sigma";
    }
  }
}

/// The test above can fail: 15 % more noise.
TEST_P(Bath, MoreNoiseIsFound) {
  if (setup_.device != "native") GTEST_SKIP() << "the same numbers";
  std::string text = kRotors;
  text.replace(text.find("2*0.5*T"), 7, "2.3*0.5*T");
  const auto r = run_text(text, setup_);
  const auto* found = r.find("blue_all");
  ASSERT_TRUE(found);
  EXPECT_GT(std::abs(found->values.back()[1] - 0.6), 4 * found->errors.back()[1]);
}

/// A written equation replaces the derived one, which `derived` stands for: without friction and
/// noise the two are one.
TEST_P(Bath, DerivedIsWhatTheHamiltonianGives) {
  const std::string text =
      "model chain\nlattice line: 8, spacing = 1\nfield q, p: real\n"
      "H = total(p^2/2 + (q@x - q)^2/2 + q^4/4)\nEQUATION"
      "init q = sin(2*pi*x/8), p = 0\nevolve leapfrog, dt = 0.1, until = t > 2\n"
      "every 5 steps: mean(q*q@x), mean(p^2) -> \"c.h5\"\n";
  const auto with = [&](const std::string& equation) {
    std::string own = text;
    own.replace(own.find("EQUATION"), 8, equation);
    return run_text(own, setup_);
  };
  const auto plain = with(""), named = with("p' = derived\n"),
             written = with("p' = lap(q) - q^3\n");
  for (const char* name : {"mean(q*q@x)", "mean(p^2)"}) {
    EXPECT_EQ(last(named, name), last(plain, name)) << name;
    EXPECT_NEAR(last(written, name), last(plain, name), 1e-14) << name;
  }
}

/// A term of noise added to a vector is a vector of independent noises. In a magnetic field:
/// D = T g/(g^2 + B^2) across, T/g along, less what is missing at a finite time, 1 - 1/(g t).
TEST_P(Bath, BrownianMotionInAMagneticField) {
  const auto r = run_text(
      "model turning\nparam T = 0.5, g = 1, B = 2\nsweep path = 1..4000\nvar x: vec(3)\n"
      "x'' = -g*x' + cross(x', [0, 0, B]) + sqrt(2*g*T)*noise\ninit x = 0, x' ~ sqrt(T)*normal\n"
      "evolve srk2, dt = 0.05, until = t > 40\n"
      "X = dot(x, [1, 0, 0])\nY = dot(x, [0, 1, 0])\nZ = dot(x, [0, 0, 1])\n"
      "at end: across = var(X, over = path)/(2*t), along = var(Z, over = path)/(2*t), "
      "xy = mean(X*Y, over = path), xz = mean(X*Z, over = path) -> \"b.h5\"\n",
      setup_);
  const auto check = [&](const char* name, double exact) {
    const auto* found = r.find(name);
    ASSERT_TRUE(found) << name;
    const double error = found->errors.back().at(0);
    EXPECT_NEAR(found->values.back().at(0), exact, 4 * error) << name << ", seed 1, 4 sigma";
  };
  check("along", 0.5 * (1 - 1 / 40.0));
  // <x^2> = 2 T Re[(t - (1 - exp(-a t))/a)/a], a = g + i B
  check("across", 0.5 * (0.2 - (1.0 - 4.0) / 25 / 40));
  check("xy", 0);
  check("xz", 0);
}

/// Bodies in space: all components of all bodies are independent, var = 2 T t each.
TEST_P(Bath, FreeBodiesInThePlane) {
  const auto r = run_text(
      "model free\nparam T = 0.3\nparticles b: 20000\nvar x[k]: vec(2)\n"
      "x[k]' = sqrt(2*T)*noise[k]\ninit x = 0\nevolve euler_maruyama, dt = 0.25, "
      "until = t > 4.9\n"
      "at end: xx = mean(dot(x, [1, 0])^2), yy = mean(dot(x, [0, 1])^2), "
      "xy = mean(dot(x, [1, 0])*dot(x, [0, 1])) -> \"f.h5\"\n",
      setup_);
  const double variance = 2 * 0.3 * 5, n = 20000;
  EXPECT_NEAR(last(r, "xx"), variance, 4 * variance * std::sqrt(2 / n));
  EXPECT_NEAR(last(r, "yy"), variance, 4 * variance * std::sqrt(2 / n));
  EXPECT_NEAR(last(r, "xy"), 0, 4 * variance / std::sqrt(n));
}

INSTANTIATE_TEST_SUITE_P(Devices, Bath, ::testing::Values("native", "opencl"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace vphi
