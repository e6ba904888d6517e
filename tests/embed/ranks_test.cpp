// Runs of embedding programs that several ranks share: the bits of one device, step by step.
#include <gtest/gtest.h>

#include <bit>

#include "embed/simulation.hpp"

namespace vphi::embed {
namespace {

constexpr const char* kBox = R"(model box "A field in a box"
param m2 = 1.5
lattice box: 8*8*32, length = 10, boundary = periodic
field phi: real
potential V = m2*phi^2/2 + phi^4/4
init phi ~ 0.1*normal, phi' = 0
evolve leapfrog, dt = 0.02, until = t > 1
precision real = f64
every 5 steps: mean(phi^2), spectrum(phi) -> "box.h5"
)";
constexpr const char* kPaths = R"(model paths "Paths with noise"
sweep path = 1..7
var x: real
x' = -x + noise
init x ~ normal
evolve euler_maruyama, dt = 0.01, until = t > 1
every 10 steps: x -> "paths.h5"
)";

StartOptions native(std::int64_t ranks) {
  StartOptions options;
  options.device = "native", options.ranks = ranks;
  return options;
}

void expect_same(const std::vector<double>& a, const std::vector<double>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    ASSERT_EQ(std::bit_cast<std::uint64_t>(a[i]), std::bit_cast<std::uint64_t>(b[i])) << i;
}

TEST(EmbeddedRanks, HaveTheBitsOfOneDevice) {
  for (const char* text : {kBox, kPaths}) {
    const Model model = Model::from_text(text);
    Simulation one(model, native(0)), shared(model, native(3));
    EXPECT_EQ(one.ranks(), 1);
    EXPECT_EQ(shared.ranks(), 3);
    for (const std::int64_t steps : {1, 2, 10}) {
      EXPECT_EQ(one.step(steps), shared.step(steps));
      for (const std::string& name : one.state())
        expect_same(one.read(name).values, shared.read(name).values);
    }
    std::vector<double> other = one.read(one.state()[0]).values;
    for (double& value : other) value *= 1.01;
    one.write(one.state()[0], other), shared.write(one.state()[0], other);
    one.step(-1), shared.step(-1);
    const Result a = one.finish(), b = shared.finish();
    EXPECT_EQ(a.run.steps, b.run.steps);
    ASSERT_EQ(a.run.series.size(), b.run.series.size());
    for (std::size_t i = 0; i < a.run.series.size(); ++i) {
      EXPECT_EQ(a.run.series[i].points, b.run.series[i].points);
      EXPECT_EQ(a.run.series[i].values, b.run.series[i].values);
    }
    ASSERT_EQ(a.tables.size(), b.tables.size());
    for (std::size_t i = 0; i < a.tables.size(); ++i)
      expect_same(a.tables[i].table.values, b.tables[i].table.values);
  }
}

TEST(EmbeddedRanks, GoOnWithAnotherProgram) {
  const Model model = Model::from_text(kBox);
  Simulation one(model, native(0)), shared(model, native(2));
  for (Simulation* simulation : {&one, &shared}) {
    simulation->step(5);
    simulation->set("m2", "2");
    EXPECT_GT(simulation->step_until("mean(phi'^2) > 0.004"), 0);
    EXPECT_FALSE(simulation->over());
  }
  EXPECT_EQ(one.steps(), shared.steps());
  for (const std::string& name : one.state())
    expect_same(one.read(name).values, shared.read(name).values);
}

TEST(EmbeddedRanks, WhatTheyCannotShareIsRefused) {
  const Model box = Model::from_text(kBox), paths = Model::from_text(kPaths);
  Simulation shared(box, native(2));
  try {
    shared.view(shared.state()[0]);
    ADD_FAILURE() << "there is no view of a memory in parts";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind, ErrorKind::Usage);
    EXPECT_NE(error.hint.find("`read`"), std::string::npos);
  }
  EXPECT_EQ(shared.step(1), 1);  // nothing holds the state
  try {
    Simulation(paths, native(8));
    ADD_FAILURE() << "8 ranks share 7 instances";
  } catch (const Error& error) {
    EXPECT_EQ(error.code, "E0860");
  }
  StartOptions twice;
  twice.device = "cuda:0,0";
  EXPECT_THROW(Simulation(paths, twice), Error);
}

}  // namespace
}  // namespace vphi::embed
