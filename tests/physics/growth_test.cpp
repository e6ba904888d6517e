// W0316: where a step of an integrator grows and its equations do not, against the known limits.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

bool warned(const std::string& equations, const std::string& start, const std::string& integrator,
            double dt) {
  const auto c =
      testing::compile_text("model m\nvar x: real, y: real\n" + equations + "\ninit " + start +
                                "\nevolve " + integrator + ", dt = " + testing::exact(dt) +
                                ", until = t > 1\n" + "every 1 steps: x, y -> \"m.h5\"\n",
                            {});
  for (const auto& d : c.diagnostics.all())
    if (d.code == "W0316") return true;
  return false;
}

TEST(Growth, AtTheLimitsOfDecays) {
  const std::string two = "x' = -10*x + y\ny' = -y";
  for (const auto& [name, limit] : {std::pair{"euler", 2.0}, {"heun", 2.0}, {"rk4", 2.7853}}) {
    SCOPED_TRACE(name);
    // the factor of a step grows by 5 % within 3 % of the limit
    EXPECT_FALSE(warned(two, "x = 1, y = 1", name, 0.99 * limit / 10));
    EXPECT_TRUE(warned(two, "x = 1, y = 1", name, 1.06 * limit / 10));
  }
}

TEST(Growth, AtTheLimitOfOscillations) {
  const std::string two = "x'' = -100*x + y\ny'' = -y + x";
  const std::string start = "x = 1, x' = 0, y = 0, y' = 0";
  EXPECT_FALSE(warned(two, start, "leapfrog", 0.199));
  EXPECT_TRUE(warned(two, start, "leapfrog", 0.205));
}

bool warned_on_a_square(const std::string& equation, const std::string& integrator, double dt) {
  const auto c = testing::compile_text(
      "model m\nlattice box: 8^2, length = 4, boundary = periodic\nfield u: real\n" + equation +
          "\ninit u = x" + (equation.find("u''") == 0 ? ", u' = 0" : "") + "\nevolve " +
          integrator + ", dt = " + testing::exact(dt) +
          ", until = t > 1\nevery 1 steps: mean(u) -> \"m.h5\"\n",
      {});
  EXPECT_FALSE(c.diagnostics.has_errors());
  for (const auto& d : c.diagnostics.all())
    if (d.code == "W0316") return true;
  return false;
}

// The five-point Laplacian has the eigenvalue 8/dx^2: dt < dx^2/4 in two dimensions (Courant,
// Friedrichs and Lewy 1928), times 2.7853/2 with rk4; a friction moves the rate by itself.
TEST(Growth, AtTheLimitOfDiffusion) {
  EXPECT_FALSE(warned_on_a_square("u' = lap(u)", "euler", 0.99 * 0.25 / 4));
  EXPECT_TRUE(warned_on_a_square("u' = lap(u)", "euler", 1.06 * 0.25 / 4));
  EXPECT_FALSE(warned_on_a_square("u' = lap(u)", "rk4", 0.99 * 2.7853 / 32));
  EXPECT_TRUE(warned_on_a_square("u' = lap(u)", "rk4", 1.06 * 2.7853 / 32));
  EXPECT_TRUE(warned_on_a_square("u' = lap(u) - 10*u", "euler", 0.99 * 0.25 / 4));
}

// Neighbours in any way, about any value of the start: a velocity beside a diffusion, the square of
// a Laplacian, and steps that are stable at u = 0 alone.
TEST(Growth, AtTheLimitOfWhatReadsNeighbours) {
  const double dx = 0.5;
  const auto advected = [](double dt) {
    return warned_on_a_square("u' = lap(u) - 0.1*u*d(u, x)", "euler", dt);
  };
  EXPECT_FALSE(advected(0.97 * dx * dx / 4));
  EXPECT_TRUE(advected(1.06 * dx * dx / 4));
  const auto fourth = [](double dt) {
    return warned_on_a_square("u' = -lap(lap(u))", "euler", dt);
  };
  EXPECT_FALSE(fourth(0.99 * std::pow(dx, 4) / 32));
  EXPECT_TRUE(fourth(1.06 * std::pow(dx, 4) / 32));
  const auto by_hand = [](double dt) {
    return warned_on_a_square("u' = (u@x + u@-x - 2*u)/dx^2", "euler", dt);
  };
  EXPECT_FALSE(by_hand(0.99 * dx * dx / 2));
  EXPECT_TRUE(by_hand(1.06 * dx * dx / 2));
  // u = x reaches 1.75: the rate 3 u^2 there, and 0 in the middle
  const double rate = 3 * std::pow(1.75, 2);
  EXPECT_FALSE(warned_on_a_square("u' = -u^3", "euler", 0.99 * 2 / rate));
  EXPECT_TRUE(warned_on_a_square("u' = -u^3", "euler", 1.06 * 2 / rate));
}

// |1 + i w dt| > 1 at every dt, and there is no limit that could be passed.
TEST(Growth, WavesThatGrowAtEveryStep) {
  EXPECT_TRUE(warned_on_a_square("u'' = lap(u)", "euler", 0.2 * 0.5));
  EXPECT_TRUE(warned_on_a_square("u'' = lap(u)", "heun", 0.4 * 0.5));
  EXPECT_FALSE(warned_on_a_square("u'' = lap(u)", "heun", 0.1 * 0.5));
  EXPECT_FALSE(warned_on_a_square("u'' = lap(u)", "leapfrog", 0.7 * 0.5));
  EXPECT_FALSE(warned_on_a_square("u'' = lap(u)", "rk4", 0.9 * 0.5));
}

// What the equations themselves let grow is no fault of the step: an inverted pendulum.
TEST(Growth, InstabilitiesOfTheEquationsAreTheirOwn) {
  EXPECT_FALSE(warned("x' = 3*x\ny' = -y", "x = 1, y = 1", "rk4", 0.5));
  EXPECT_FALSE(warned("x'' = sin(x)\ny'' = -y", "x = 0, x' = 0.1, y = 1, y' = 0", "leapfrog", 0.3));
  EXPECT_TRUE(warned("x' = 3*x\ny' = -40*y", "x = 1, y = 1", "rk4", 0.2));
}

// ---- what has grown by the step ----------------------------------------------------------------

struct Outcome {
  std::string code, message, hint;
};

Outcome outcome(const std::string& equation, double dt, const std::string& until,
                const std::string& start = "sin(2*pi*x/16) + 0.001*(x > 0)") {
  try {
    testing::run_text(
        "model m\nlattice line: 16, spacing = 1, boundary = periodic\n"
        "field u: real\n" +
            equation + "\ninit u = " + start + "\nevolve euler, dt = " + testing::exact(dt) +
            ", until = " + until + "\nprecision real = f64\nevery 1 steps: max(u) -> \"m.h5\"\n",
        {});
  } catch (const runtime::RunError& error) {
    return {error.code, error.what(), error.hint};
  }
  return {};
}

// A step of u' = lap(u) multiplies the wave at pi by 1 - 4 dt = -1.8 at dt = 0.7: 1.8^143 = 3e36.
TEST(GrowthByTheStep, EndsTheRunWithTheStepThatFits) {
  const Outcome finite = outcome("u' = lap(u)", 0.7, "t >= 100");
  EXPECT_EQ(finite.code, "E0816") << finite.message;
  EXPECT_NE(finite.message.find("dt = 0.7 is beyond"), std::string::npos) << finite.message;
  EXPECT_NE(finite.message.find("by 1.8"), std::string::npos) << finite.message;
  EXPECT_EQ(finite.hint.rfind("dt = 0.", 0), 0u) << finite.hint;
  const Outcome endless = outcome("u' = lap(u)", 0.7, "t >= 3000");
  EXPECT_EQ(endless.code, "E0801") << endless.message;
  EXPECT_NE(endless.message.find("dt = 0.7 is beyond"), std::string::npos) << endless.message;
  EXPECT_EQ(endless.hint.rfind("dt = 0.", 0), 0u) << endless.hint;
}

// Too few steps to have made it, and a step within the limit.
TEST(GrowthByTheStep, IsNotSeenWhereItCannotBe) {
  EXPECT_EQ(outcome("u' = lap(u)", 0.7, "t >= 7").code, "");
  EXPECT_EQ(outcome("u' = lap(u)", 0.45, "t >= 1000").code, "");
}

// exp(80) of u' = u and exp(30 t) beside a diffusion whose dt is 1.6 times too large: the
// equation's.
TEST(GrowthByTheStep, GrowthOfTheEquationsIsRight) {
  EXPECT_EQ(outcome("u' = u", 0.01, "t >= 80", "1").code, "");
  EXPECT_EQ(outcome("u' = lap(u) + 2*u", 0.2, "t >= 40").code, "");
  const Outcome both = outcome("u' = lap(u) + 0.5*u", 0.62, "t >= 60", "1");
  EXPECT_EQ(both.code, "") << both.message;  // homogeneous: the wave at pi starts from nothing
}

}  // namespace
}  // namespace vphi
