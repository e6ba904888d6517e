// Stability limits, measured on the text of each integrator (docs/formulas.md 1.9).
#include <gtest/gtest.h>

#include "compiler/schedule/integrator/stability.hpp"
#include "compiler/text/integrator.hpp"
#include "derive_text.hpp"

namespace vphi::physics::test {
namespace {

const std::string kModel =
    "model test \"t\"\nlattice box: 8^3, length = 8, boundary = periodic\nfield u: real\n"
    "u'' = lap(u)\nlaplacian = iso27\ninit u = 1\n";

/// The system of a text, with its step judged.
Derived judged(const std::string& text) {
  Derived d = derive_text(text);
  if (d.system) d.system = schedule::judge_waves(std::move(*d.system), d.diagnostics);
  return d;
}

text::Integrator integrator(const std::string& name, const std::string& more = {}) {
  const auto d = derive_text(kModel + more + "evolve leapfrog, dt = 0.1, until = t > 1\n");
  dsl::Diagnostics diagnostics;
  return text::read_integrator(name, {}, *d.resolved, diagnostics).value();
}

/// Of a step of 0.1: the limit of w*dt is a property of the text.
std::optional<double> limit(const std::string& name, const std::string& more = {},
                            double dt = 0.1) {
  return schedule::wave_limit(integrator(name, more), dt);
}

TEST(Stability, LimitsOfTheLibrary) {
  const std::pair<const char*, double> rows[] = {
      {"leapfrog", 2.0},    {"velocity_verlet", 2.0}, {"position_verlet", 2.0},
      {"yoshida4", 1.5734}, {"vv4", 1.5734},          {"vv6", 2.2691},
      {"vv8", 3.3932},      {"vv10", 3.0496},         {"rk4", std::sqrt(8.0)}};
  for (const auto& [name, expected] : rows) {
    const auto found = limit(name);
    ASSERT_TRUE(found) << name;
    EXPECT_NEAR(*found, expected, 2e-3) << name;
  }
  EXPECT_FALSE(limit("heun")) << "grows at every step";
  EXPECT_FALSE(limit("srk2")) << "noise";
}

TEST(Stability, LimitOfAUsersOwnIntegrator) {
  // two half steps in one: twice the limit
  const auto found = limit("twice", "integrator twice = compose(leapfrog, 1/2, 1/2)\n");
  ASSERT_TRUE(found);
  EXPECT_NEAR(*found, 4, 2e-3);
}

// x and v go by x + c*dt*v, v - c*dt*w^2 x with any functions of dt in c: what a body may call is
// known where steps are made, and nowhere else.
TEST(Stability, TextsWithFunctionsHaveTheirLimit) {
  const auto with = [](const std::string& c) {
    return "integrator own(x' = V(v), v' = F(x)) {\n  c = " + c +
           "\n  v = v + dt/2*c*F(x)\n  x = x + dt*c*V(v)\n  v = v + dt/2*c*F(x)\n}\n";
  };
  const double dt = 0.7;
  const std::pair<const char*, double> rows[] = {
      {"1", 1.0},
      {"cosh(dt)", std::cosh(dt)},
      {"sin(dt)/dt", std::sin(dt) / dt},
      {"tanh(dt) + cos(dt)", std::tanh(dt) + std::cos(dt)},
      {"exp(-dt)*sqrt(4)", 2 * std::exp(-dt)}};
  for (const auto& [text, c] : rows) {
    const auto found = limit("own", with(text), dt);
    ASSERT_TRUE(found) << text;
    EXPECT_NEAR(*found, 2 / c, 1e-4) << text;
  }
  // and a model is refused by it: w_max = sqrt(12)/dx on the box below
  const std::string text =
      "model test \"t\"\nlattice box: 8^3, length = 8, boundary = periodic\nfield u: real\n"
      "u'' = lap(u)\nlaplacian = iso7\ninit u = 1\n" +
      with("cosh(2*dt)") + "evolve own, until = t > 1, dt = ";
  // dt*cosh(2*dt) = 2/sqrt(12) at dt = 0.42
  EXPECT_TRUE(judged(text + "0.40\n").system) << judged(text + "0.40\n").messages();
  const auto bad = judged(text + "0.45\n");
  EXPECT_FALSE(bad.system);
  ASSERT_FALSE(bad.diagnostics.all().empty());
  EXPECT_EQ(bad.diagnostics.all().front().code, "E0301");
}

TEST(Stability, OptionsOfTheModelCount) {
  const std::string own =
      "integrator own(x' = V(v), v' = F(x), c = 1) {\n  v = v + dt/2*c*F(x)\n  x = x + "
      "dt*V(v)\n  v = v + dt/2*c*F(x)\n}\n";
  algebra::Arena arena;
  const auto text = integrator("own", own);
  EXPECT_NEAR(schedule::wave_limit(text, 0.1).value(), 2, 1e-4);
  EXPECT_NEAR(schedule::wave_limit(text, 0.1, {{"c", arena.integer(4)}}).value(), 1, 1e-4);
}

TEST(Stability, OrdersOfTexts) {
  EXPECT_EQ(schedule::wave_order(integrator("leapfrog"), 0.1), 2);
  EXPECT_EQ(schedule::wave_order(integrator("rk4"), 0.1), 4);
  EXPECT_EQ(schedule::wave_order(integrator("yoshida4"), 0.1), 4);
}

TEST(Stability, TooLargeAStepIsAnError) {
  // 2/sqrt(92/15) = 0.80757
  EXPECT_TRUE(judged(kModel + "evolve leapfrog, dt = 0.807*dx, until = t > 1\n").system);
  const auto d = judged(kModel + "evolve leapfrog, dt = 0.808*dx, until = t > 1\n");
  EXPECT_FALSE(d.system);
  ASSERT_FALSE(d.diagnostics.all().empty());
  const auto& message = d.diagnostics.all().front();
  EXPECT_EQ(message.code, "E0301");
  EXPECT_NE(message.message.find("0.8076*dx"), std::string::npos) << message.message;
  EXPECT_NE(message.rule.find("92/15"), std::string::npos) << message.rule;
}

TEST(Stability, ConformalTimeHasTheLightConeOfTheLattice) {
  const std::string text =
      "model test \"t\"\nunits reduced_planck\nlattice box: 8^3, length = 8, boundary = periodic\n"
      "metric frw(a)\nfield u: real\npotential V = 1e-12*u^4/4\nrescale A = 3, B = 5, s = -1\n"
      "init u = 1\n";
  EXPECT_TRUE(judged(text + "evolve leapfrog, dt = 0.577*dx, until = t > 1\n").system);
  EXPECT_FALSE(judged(text + "evolve leapfrog, dt = 0.578*dx, until = t > 1\n").system);
}

// 12/dx^2 of the Laplacian and the largest eigenvalue of V'' at the start.
TEST(Stability, MassesCount) {
  const std::string text =
      "model test \"t\"\nlattice box: 8^3, length = 4, boundary = periodic\nfield u, v: real\n"
      "potential V = 3*u^2/2 + 5*u^2*v^2/2 + v^4/4\ninit u = 2, v = 1\n"
      "evolve leapfrog, dt = ";
  // V_uu = 3 + 5 v^2 = 8, V_vv = 5 u^2 + 3 v^2 = 23, V_uv = 10 u v = 20
  const double largest = 12 / 0.25 + (31 + std::sqrt(15.0 * 15 + 4 * 400)) / 2;
  const double limit = 2 / std::sqrt(largest);
  const auto with = [&](double dt) {
    return judged(text + std::to_string(dt) + ", until = t > 1\n");
  };
  EXPECT_TRUE(with(limit * 0.9999).system) << with(limit * 0.9999).messages();
  const auto bad = with(limit * 1.0001);
  EXPECT_FALSE(bad.system);
  ASSERT_FALSE(bad.diagnostics.all().empty());
  EXPECT_NE(bad.diagnostics.all().front().rule.find("m^2"), std::string::npos);
  const auto good = with(limit / 2);
  bool noted = false;
  for (const std::string& remark : good.system->remarks) {
    noted = noted || remark.find("8 of u, 23 of v") != std::string::npos;
  }
  EXPECT_TRUE(noted) << "the masses are for `explain` to show";
}

// The same equation written by hand has the same masses.
TEST(Stability, MassesOfAWrittenEquation) {
  const std::string text =
      "model test \"t\"\nlattice line: 8, length = 4, boundary = periodic\nfield u: real\n"
      "u'' = lap(u) - 50*sin(u)\ninit u = 0\nevolve leapfrog, dt = ";
  const double limit = 2 / std::sqrt(4 / 0.25 + 50);
  EXPECT_TRUE(judged(text + std::to_string(limit * 0.999) + ", until = t > 1\n").system);
  EXPECT_FALSE(judged(text + std::to_string(limit * 1.001) + ", until = t > 1\n").system);
}

// q''_n = 3 (q_(n+1) - 2 q_n + q_(n-1)) has w^2 = 12 at k = pi; links: sin^2 along both axes.
TEST(Stability, NeighboursWrittenOut) {
  const std::string chain =
      "model test \"t\"\nlattice chain: 32, spacing = 1, boundary = fixed(0)\nfield q, p: real\n"
      "H = total(p^2/2 + 3*(q@x - q)^2/2)\ninit q = 0.1\nevolve leapfrog, dt = ";
  const std::string links =
      "model test \"t\"\nlattice box: 8^3, spacing = 1\ngauge U: U(1), E: real\n"
      "P[i,j] = loop(i, j, -i, -j)\nH = total(sum(E[i]^2, i)/2 + sum(1 - re(P[i,j]), i < j))\n"
      "init U = 1, E = 0\nevolve leapfrog, dt = ";
  for (const std::string& text : {chain, links}) {
    const double limit = 2 / std::sqrt(12.0);  // the photon's k_eff^2 is that of the Laplacian
    EXPECT_TRUE(judged(text + std::to_string(limit * 0.999) + ", until = t > 1\n").system);
    const auto bad = judged(text + std::to_string(limit * 1.001) + ", until = t > 1\n");
    EXPECT_FALSE(bad.system);
    ASSERT_FALSE(bad.diagnostics.all().empty());
    EXPECT_EQ(bad.diagnostics.all().front().code, "E0301");
  }
}

}  // namespace
}  // namespace vphi::physics::test
