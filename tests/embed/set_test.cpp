// A parameter that changes in the middle of a run, and steps until a condition holds.
#include <gtest/gtest.h>

#include <cmath>

#include "embed/simulation.hpp"

namespace vphi {
namespace {

const std::string kGrowing = R"(model box "A field that expands its box"
units reduced_planck
param m = 1e-5, g = 1e-9
lattice box: 8^3, length = 4e5, boundary = periodic
metric frw(a)
field phi: real
potential V = m^2*phi^2/2 + g*phi^4
init phi = 1 + 0.01*sin(2*pi*x/4e5), phi' = -0.7*m
evolve leapfrog, dt = 1000
precision real = f64
every 10 steps: a, H -> "box.csv"
)";

embed::StartOptions native() {
  embed::StartOptions options;
  options.device = "native";
  return options;
}

double number(embed::Simulation& simulation, const std::string& formula) {
  return simulation.evaluate(formula).values.at(0);
}

TEST(Set, TheSameValueLeavesEveryBit) {
  const auto model = embed::Model::from_text(kGrowing);
  embed::Simulation changed(model, native()), alone(model, native());
  changed.step(37), alone.step(37);
  const double a = number(alone, "a");
  EXPECT_EQ(number(changed, "a"), a);
  changed.set("g", "1e-9");
  EXPECT_EQ(changed.steps(), 37);
  EXPECT_EQ(changed.time(), alone.time());
  EXPECT_EQ(number(changed, "a"), a);
  for (const auto& array : alone.state()) {
    EXPECT_EQ(changed.read(array).values, alone.read(array).values) << array;
  }
  changed.step(40), alone.step(40);
  EXPECT_NEAR(number(changed, "a"), number(alone, "a"), 1e-12 * number(alone, "a"));
}

TEST(Changed, WithoutAKickAgreesWithTheRunThatGoesOn) {
  const auto model = embed::Model::from_text(kGrowing);
  embed::Simulation told(model, native()), alone(model, native());
  told.step(37), alone.step(37);
  told.changed();
  EXPECT_EQ(told.steps(), 37);
  for (const auto& array : alone.state())
    EXPECT_EQ(told.read(array).values, alone.read(array).values) << array;
  told.step(40), alone.step(40);
  EXPECT_NEAR(number(told, "a"), number(alone, "a"), 1e-12 * number(alone, "a"));
}

TEST(Set, TheBackgroundFollowsTheNewEnergy) {
  const auto model = embed::Model::from_text(kGrowing);
  embed::Simulation strong(model, native()), alone(model, native());
  strong.step(50), alone.step(50);
  strong.set("g", "1e-8");
  EXPECT_GT(number(strong, "mean(rho)"), number(alone, "mean(rho)"));
  strong.step(200), alone.step(200);
  EXPECT_NE(number(strong, "H"), number(alone, "H"));
  EXPECT_TRUE(std::isfinite(number(strong, "a")));
}

TEST(Set, WhatIsRefusedLeavesTheRunAsItWas) {
  const auto model = embed::Model::from_text(kGrowing);
  embed::Simulation tried(model, native()), alone(model, native());
  tried.step(10), alone.step(10);
  EXPECT_THROW(tried.set("q", "2"), embed::Error);
  EXPECT_THROW(tried.set("g", "2 +"), embed::Error);
  EXPECT_THROW(tried.step_until("phi >"), embed::Error);
  tried.step(10), alone.step(10);
  for (const auto& array : alone.state()) {
    EXPECT_EQ(tried.read(array).values, alone.read(array).values) << array;
  }
}

TEST(StepUntil, StopsAtTheFirstStepAndGoesOnWithTheSameBits) {
  const auto model = embed::Model::from_text(kGrowing);
  embed::Simulation stopped(model, native()), alone(model, native());
  const std::int64_t made = stopped.step_until("a > 1.1");
  ASSERT_GT(made, 1);
  alone.step(made - 1);
  EXPECT_LE(number(alone, "a"), 1.1);
  alone.step(1);
  EXPECT_GT(number(alone, "a"), 1.1);
  EXPECT_EQ(stopped.step_until("a > 1.05"), 0);
  stopped.step(23), alone.step(23);
  for (const auto& array : alone.state()) {
    EXPECT_EQ(stopped.read(array).values, alone.read(array).values) << array;
  }
  EXPECT_EQ(number(stopped, "a"), number(alone, "a"));
}

}  // namespace
}  // namespace vphi
