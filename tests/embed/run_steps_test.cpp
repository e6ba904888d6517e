// A run that is driven by steps gives the bits of a run to the end.
#include <gtest/gtest.h>

#include <cstring>

#include "embed/prepare.hpp"
#include "runtime/run/run_state.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

constexpr const char* kExpanding = R"(model box "Two fields that expand their box"
units reduced_planck
param m = 1e-5
lattice box: 8^3, length = 4/m, boundary = periodic
metric frw(a)
field phi, chi: real
potential V = m^2*phi^2/2 + 1e-9*phi^2*chi^2
init phi ~ 1 + vacuum, phi' ~ -0.7*m + vacuum
init chi ~ vacuum
evolve leapfrog, dt = 2^-6/m
every 5 steps: a, mean(phi), var(chi) -> "out.csv"
every 8 steps: spectrum(phi), spectrum(rho) -> "out.csv"
expect abs(mean(rho)/(3*H^2) - 1) < 1e-2
)";
constexpr const char* kChain = R"(model links "A Markov chain"
param beta = 2.2
lattice grid: 4^4
gauge U: SU(2)
P[mu,nu] = loop(mu, nu, -mu, -nu)
action S = beta/2*sum(2 - re(tr(P[mu,nu])), mu < nu)
sample heatbath, sweeps = 200, overrelax = 1
init U ~ hot
every 1 sweep: mean(re(tr(P[mu,nu]))/2, mu < nu) -> "out.csv"
)";

/// `queued`: RunOptions::leave_queued; some steps are, or with null none.
runtime::RunResult by_steps(const program::Program& program, std::vector<std::int64_t> counts,
                            std::int64_t* queued = nullptr) {
  runtime::RunOptions options;
  options.keep_state = true;
  options.leave_queued = queued != nullptr;
  runtime::Run run(program, *testing::device("native"), options);
  run.start();
  std::int64_t made = 0;
  for (std::size_t i = 0; !run.over(); ++i) {
    const std::int64_t count = counts[i % counts.size()];
    const std::int64_t now = run.advance(count);
    EXPECT_LE(now, count);
    made += now;
    EXPECT_EQ(run.step(), made);
    if (queued != nullptr) *queued += run.queued();
  }
  EXPECT_EQ(run.advance(3), 0);
  return run.finish();
}

void expect_same(const runtime::RunResult& a, const runtime::RunResult& b) {
  EXPECT_EQ(a.steps, b.steps);
  EXPECT_EQ(a.time, b.time);
  ASSERT_EQ(a.state.size(), b.state.size());
  for (std::size_t i = 0; i < a.state.size(); ++i) {
    ASSERT_EQ(a.state[i].size(), b.state[i].size());
    EXPECT_EQ(std::memcmp(a.state[i].data(), b.state[i].data(), 8 * a.state[i].size()), 0) << i;
  }
  ASSERT_EQ(a.series.size(), b.series.size());
  for (std::size_t i = 0; i < a.series.size(); ++i) {
    EXPECT_EQ(a.series[i].name, b.series[i].name);
    EXPECT_EQ(a.series[i].steps, b.series[i].steps) << a.series[i].name;
    EXPECT_EQ(a.series[i].points, b.series[i].points) << a.series[i].name;
  }
  ASSERT_EQ(a.expectations.size(), b.expectations.size());
  for (std::size_t i = 0; i < a.expectations.size(); ++i)
    EXPECT_EQ(a.expectations[i].value, b.expectations[i].value);
}

/// `some_stay_queued`: not each step has an output.
void steps_are_a_run(const std::string& text, bool some_stay_queued) {
  testing::Simulation setup;
  setup.steps = 24;
  setup.keep_state = true;
  const Compilation compiled = testing::compile_text(text, setup);
  const runtime::RunResult whole = testing::run_program(*compiled.program, setup);
  EXPECT_EQ(whole.steps, 24);
  expect_same(whole, by_steps(*compiled.program, {1}));
  expect_same(whole, by_steps(*compiled.program, {7, 1, 2}));
  expect_same(whole, by_steps(*compiled.program, {1000}));
  std::int64_t queued = 0;
  expect_same(whole, by_steps(*compiled.program, {1}, &queued));
  EXPECT_EQ(queued > 0, some_stay_queued);
}

TEST(RunBySteps, ExpandingBox) { steps_are_a_run(kExpanding, true); }
TEST(RunBySteps, MarkovChain) { steps_are_a_run(kChain, false); }

constexpr const char* kBreaks = R"(model breaks "A field that reaches infinity at t = 1"
lattice box: 8, length = 1, boundary = periodic
field x: real
x' = x^2
init x = 1
evolve euler, dt = 0.01
)";

/// The message of the step, or of the look after it, that finds the state broken.
std::string told_by_steps(const program::Program& program, bool queued, bool look) {
  runtime::RunOptions options;
  options.leave_queued = queued;
  runtime::Run run(program, *testing::device("native"), options);
  run.start();
  try {
    for (int i = 0; i < 1000; ++i) {
      run.advance(1);
      if (look) run.look();
    }
    run.finish();
  } catch (const runtime::BrokenState& broken) {
    return broken.what();
  }
  return "nothing broke";
}

TEST(RunBySteps, WhatQueuedStepsBreakIsToldLater) {
  testing::Simulation setup;
  setup.steps = 1000;
  const Compilation compiled = testing::compile_text(kBreaks, setup);
  const std::string at_once = told_by_steps(*compiled.program, false, false);
  EXPECT_NE(at_once.find("`x` became"), std::string::npos) << at_once;
  EXPECT_EQ(told_by_steps(*compiled.program, true, false), at_once);
  EXPECT_EQ(told_by_steps(*compiled.program, true, true), at_once);
}

TEST(RunBySteps, StepsStayQueuedWhereNoStateEndsTheRun) {
  const auto by_state = [](const std::string& until) {
    return embed::ends_by_state(
        testing::compile_text("model grows \"One number\"\nvar x: real\ninit x = 1\nx' = x\n"
                              "evolve rk4, dt = 0.01" +
                                  until + "\n",
                              {}));
  };
  EXPECT_TRUE(by_state(", until = x > 2"));
  EXPECT_FALSE(by_state(", until = t > 2"));
  EXPECT_FALSE(by_state(""));
}

TEST(RunBySteps, PartsOfASweepGoToTheEnd) {
  testing::Simulation setup;
  setup.batch = 2;
  const Compilation compiled = testing::compile_text(R"(model growth "Several rates"
sweep r = [1, 2, 3]
var x: real
init x = 1
x' = r*x
evolve rk4, dt = 0.01, until = t > 0.1
at end: x -> "end.csv"
)",
                                                     setup);
  runtime::Run run(*compiled.program, *testing::device("native"));
  run.start();
  ASSERT_EQ(run.parts(), 2);
  EXPECT_THROW(run.advance(1), std::logic_error);
  run.advance(-1);
  const runtime::RunResult result = run.finish();
  ASSERT_NE(result.find("x"), nullptr);
  const runtime::RunResult whole = testing::run_program(*compiled.program, setup);
  EXPECT_EQ(result.find("x")->values, whole.find("x")->values);
  ASSERT_EQ(result.find("x")->values.back().size(), 3U);
}

}  // namespace
}  // namespace vphi
