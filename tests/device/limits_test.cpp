// The least time of a launch, against numbers worked out by hand.
#include "runtime/device/limits.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace vphi::runtime {
namespace {

Ceilings round_numbers() {
  Ceilings c;
  c.copy = 1e12, c.f32 = 2e13, c.f64 = 1e13, c.special32 = 1e12, c.special64 = 1e11,
  c.launch = 2e-6;
  c.latency32 = 2e-9, c.special_latency32 = 2e-8, c.latency64 = 4e-9, c.special_latency64 = 8e-8;
  return c;
}

program::Kernel sweep() {
  program::Kernel k;
  k.sites = 1'000'000;
  k.bytes = 32, k.instructions = 100, k.special = 3;
  k.arithmetic = program::Precision::F32;
  k.grid = {1000, 1, 1};
  return k;
}

program::Launch launch(int kernel) {
  program::Launch l;
  l.kernel = kernel;
  return l;
}

TEST(Limits, OfALaunch) {
  const Limits l = limits(sweep(), round_numbers(), 100);
  EXPECT_DOUBLE_EQ(l.memory, 32e-6);
  EXPECT_DOUBLE_EQ(l.arithmetic, 10e-6);  // 1e8 instructions, each up to two operations
  EXPECT_DOUBLE_EQ(l.special, 3e-6);
  EXPECT_DOUBLE_EQ(l.launch, 2e-6);
  EXPECT_DOUBLE_EQ(l.longest(), 32e-6);
  EXPECT_EQ(l.name(), "memory");
}

TEST(Limits, OfPairsAndOfAnotherPrecision) {
  program::Kernel pairs = sweep();
  pairs.sites = 1000, pairs.pairs = 1'000'000;
  pairs.arithmetic = program::Precision::F64;
  const Limits l = limits(pairs, round_numbers(), 100);
  EXPECT_DOUBLE_EQ(l.memory, 32e-9);
  EXPECT_DOUBLE_EQ(l.arithmetic, 20e-6);
  EXPECT_DOUBLE_EQ(l.special, 30e-6);
  EXPECT_EQ(l.name(), "special functions");
}

TEST(Limits, AChainTakesAsLongForOneSiteAsForAll) {
  program::Kernel one = sweep();
  one.sites = 1;
  one.chain = 1000, one.chain_special = 50;
  const Limits single = limits(one, round_numbers(), 100);
  EXPECT_DOUBLE_EQ(single.latency, 3e-6);  // 1000 of 2 ns and 50 of 20 ns
  EXPECT_EQ(single.name(), "latency");
  EXPECT_DOUBLE_EQ(single.longest(), 3e-6);
  one.arithmetic = program::Precision::F64;
  EXPECT_DOUBLE_EQ(limits(one, round_numbers(), 100).latency, 8e-6);
  one.sites = 1'000'000;
  EXPECT_DOUBLE_EQ(limits(one, round_numbers(), 100).latency, 8e-6);
  // a launch of many steps has the chain of each of them
  program::Program p;
  p.kernels = {one};
  p.step = p.multi_step = {launch(0)};
  p.instances = 1000;
  p.kernels[0].sites = 1;
  EXPECT_DOUBLE_EQ(step_limits(p, round_numbers(), {100}).sum.latency, 8e-6);
}

TEST(Limits, AFewGroupsUseAShareOfTheArithmetic) {
  program::Kernel small = sweep();
  small.sites = 1000;
  small.grid = {25, 1, 1};
  const Limits l = limits(small, round_numbers(), 100);
  EXPECT_DOUBLE_EQ(l.memory, 32e-9);
  EXPECT_DOUBLE_EQ(l.arithmetic, 4 * 10e-9);
  EXPECT_EQ(l.name(), "launch");
}

TEST(Limits, OfAStepAreThoseOfItsLaunches) {
  program::Program p;
  p.kernels = {sweep(), sweep()};
  p.kernels[1].special = 60;  // 60 us
  p.step = {launch(0), launch(1), launch(0)};
  const StepLimits l = step_limits(p, round_numbers(), {100});
  EXPECT_DOUBLE_EQ(l.seconds, (32 + 60 + 32) * 1e-6);
  EXPECT_DOUBLE_EQ(l.sum.memory, 96e-6);
  EXPECT_DOUBLE_EQ(l.sum.special, 66e-6);
  EXPECT_EQ(l.name, "memory");
  EXPECT_DOUBLE_EQ(l.bytes, 96);
}

// The arrays of a step, each once: where they fit, all launches run at the rate of the cache.
TEST(Limits, OfArraysInACacheAreThoseOfTheCache) {
  program::Program p;
  p.kernels = {sweep(), sweep()};
  program::Argument old, next;
  old.index = 0, old.bytes = 4'000'000;
  next.kind = program::Argument::Kind::Next, next.index = 0, next.bytes = 4'000'000;
  p.kernels[0].arguments = p.kernels[1].arguments = {old, next};
  p.step = {launch(0), launch(1)};
  EXPECT_DOUBLE_EQ(bytes_of_arrays(p, p.step), 8e6);
  Ceilings c = round_numbers();
  c.caches = {{4e6, 9e12}, {8e6, 2e12}};
  const StepLimits inside = step_limits(p, c, {100});
  EXPECT_DOUBLE_EQ(inside.sum.memory, 32e-6);
  EXPECT_EQ(inside.name, "cache");
  c.caches.back().bytes = 7.9e6;
  const StepLimits beyond = step_limits(p, c, {100});
  EXPECT_DOUBLE_EQ(beyond.sum.memory, 64e-6);
  EXPECT_EQ(beyond.name, "memory");
}

TEST(Limits, RoundsOfSolvesCountAsOftenAsTheyWereMade) {
  program::Program p;
  p.kernels = {sweep(), sweep()};
  p.kernels[1].special = 60;  // 60 us
  p.step = {launch(0), launch(0)};
  p.step[0].solve = p.step[1].solve = 0;
  p.solves.resize(1);
  p.solves[0].iterate = {launch(1), launch(0)};
  p.solves[0].finish = {launch(1)};
  EXPECT_DOUBLE_EQ(step_limits(p, round_numbers(), {100}).seconds, 64e-6);
  const std::vector<double> rounds{12.5};
  const StepLimits l = step_limits(p, round_numbers(), {100}, rounds);
  EXPECT_NEAR(l.rounds, 12.5 * 92e-6, 1e-15);
  EXPECT_NEAR(l.seconds, (2 * 32 + 2 * 60 + 12.5 * 92) * 1e-6, 1e-15);
  EXPECT_EQ(l.name, "special functions");
}

TEST(Limits, StepsThatDifferInTurnCountAsTheirMean) {
  program::Program p;
  p.kernels = {sweep()};
  p.step = {launch(0)};
  p.cycle = {{launch(0)}, {launch(0), launch(0), launch(0)}};
  EXPECT_DOUBLE_EQ(step_limits(p, round_numbers(), {100}).seconds, 64e-6);
}

TEST(Limits, ManyStepsOfALaunchShareWhatItMoves) {
  program::Program p;
  p.kernels = {sweep()};
  p.kernels[0].instructions = 10;  // 1 us
  p.step = {launch(0), launch(0)};
  p.multi_step = {launch(0)};
  p.instances = 1000;  // a group each
  const StepLimits alone = step_limits(p, round_numbers(), {100});
  EXPECT_EQ(alone.sum.memory, 0);
  EXPECT_EQ(alone.sum.launch, 0);
  EXPECT_DOUBLE_EQ(alone.seconds, 3e-6);
  EXPECT_EQ(alone.name, "special functions");
  // groups of one instance wait for each other after each of the two launches
  p.instances = 1;
  const StepLimits together = step_limits(p, round_numbers(), {100});
  EXPECT_DOUBLE_EQ(together.sum.launch, 4e-6);
  EXPECT_DOUBLE_EQ(together.seconds, 4e-6);
  EXPECT_EQ(together.name, "launch");
}

TEST(Limits, StepsOfAPassMoveTheirArraysOnce) {
  program::Program p;
  p.kernels = {sweep(), sweep()};
  p.step = {launch(0)};
  const StepLimits one = step_limits(p, round_numbers(), {100});
  p.together = {launch(1)};
  p.together_steps = 4;
  const StepLimits l = step_limits(p, round_numbers(), {100});
  EXPECT_DOUBLE_EQ(l.sum.memory, one.sum.memory / 4);
  EXPECT_DOUBLE_EQ(l.sum.arithmetic, one.sum.arithmetic);
  EXPECT_DOUBLE_EQ(l.sum.launch, one.sum.launch / 4);
  // sweeps that overlap: a launch for each step, and the arrays moved once for all
  p.together = {launch(0), launch(0), launch(0), launch(0)};
  EXPECT_DOUBLE_EQ(step_limits(p, round_numbers(), {100}).sum.memory, one.sum.memory / 4);
}

/// 256^2 numbers in f64 that a map multiplies by a real and an imaginary number a mode.
program::Program mapped() {
  program::Program p;
  p.target = program::Target::Cuda;
  p.extent = {256, 256, 1, 1};
  p.dims = 2;
  p.dx = 1;
  p.buffers.resize(1);
  program::FourierMap map;
  map.function = program::FourierMap::Function::Exp;
  map.scale = 0.1;
  map.from = map.to = {0};
  map.matrix.push_back({.laplacians = 1});
  p.maps = {map};
  p.kernels = {sweep()};
  p.step = {launch(0)};
  p.step[0].maps = {0};
  return p;
}

// Box of 129*256 modes of 16 bytes. Copies in and out: 16 bytes a site each. Two transforms of two
// passes, each of which reads and writes the box. The product reads the box and 8 bytes a mode.
TEST(Limits, MapsInFourierSpaceAreLaunchesOfTheirPasses) {
  const program::Program p = mapped();
  constexpr double kSites = 65536, kModes = 129 * 256;
  const double bytes = 2 * 16 * kSites + 4 * 32 * kModes + 40 * kModes;
  // 2.5 n log2 n of real rows, 5 n log2 n of columns; four of a product with a real number
  const double flops = 2 * (2.5 * kSites * 8 + 5 * kModes * 8) + 4 * kModes;
  const StepLimits l = step_limits(p, round_numbers(), {100});
  EXPECT_DOUBLE_EQ(l.transforms.arrays, 2);
  EXPECT_DOUBLE_EQ(l.transforms.passes, 4);
  EXPECT_NEAR(l.transforms.bytes, bytes / kSites, 1e-9);
  EXPECT_NEAR(l.transforms.flops, flops / kSites, 1e-9);
  EXPECT_NEAR(l.bytes, 32 + bytes / kSites, 1e-9);
  // copies and product take less than the 2 us of a launch: 1.05 and 1.32 us
  EXPECT_NEAR(l.transforms.seconds, 3 * 2e-6 + 4 * std::max(2e-6, 32 * kModes / 1e12), 1e-15);
  EXPECT_NEAR(l.seconds, 32e-6 + l.transforms.seconds, 1e-15);
  EXPECT_NEAR(l.sum.launch, 8 * 2e-6, 1e-15);
  EXPECT_NEAR(l.sum.memory, 32e-6 + bytes / 1e12, 1e-15);
}

// f32 fields have boxes of f64: the copies alone are smaller.
TEST(Limits, OfMapsOfNumbersInF32) {
  program::Program p = mapped();
  const StepLimits wide = step_limits(p, round_numbers(), {100});
  p.buffers[0].precision = program::Precision::F32;
  const StepLimits narrow = step_limits(p, round_numbers(), {100});
  EXPECT_NEAR(wide.transforms.bytes - narrow.transforms.bytes, 8, 1e-9);
  EXPECT_DOUBLE_EQ(wide.transforms.flops, narrow.transforms.flops);
}

// A cache that holds the field, two boxes and the matrix moves their passes too.
TEST(Limits, OfMapsCountTheirBoxesAmongTheArrays) {
  const program::Program p = mapped();
  constexpr double kModes = 129 * 256;
  EXPECT_DOUBLE_EQ(bytes_of_arrays(p, p.step), kModes * (2 * 16 + 8));
  Ceilings c = round_numbers();
  c.launch = 0;
  const double all = step_limits(p, c, {100}).transforms.seconds;
  c.caches = {{kModes * 40, 4e12}};
  EXPECT_NEAR(step_limits(p, c, {100}).transforms.seconds, all / 4, 1e-15);
}

// A march through memory reaches 0.85 of the copy; two equal parts take 2^(1/1.75) of one.
TEST(Limits, ExpectedTimesAddTheirPartsInPart) {
  Limits l;
  l.memory = 17e-6, l.launch = 1e-6;
  EXPECT_DOUBLE_EQ(expected_seconds(l), 20e-6 + 1.3e-6);
  l.special = 20e-6;
  EXPECT_NEAR(expected_seconds(l), 20e-6 * std::pow(2, 1 / 1.75) + 1.3e-6, 1e-12);
  l.pairs = true;
  EXPECT_DOUBLE_EQ(expected_seconds(l), 20e-6 / 0.8 + 1.3e-6);
}

TEST(Limits, ExpectedTimesAreOfGpus) {
  program::Program p;
  p.kernels = {sweep()};
  p.step = {launch(0), launch(0)};
  const Limits one = limits(sweep(), round_numbers(), 100);
  EXPECT_DOUBLE_EQ(step_limits(p, round_numbers(), {100}).expected, 2 * expected_seconds(one));
  EXPECT_EQ(step_limits(p, round_numbers(), {.count = 100, .processor = true}).expected, 0);
}

TEST(Limits, Occupancy) {
  EXPECT_DOUBLE_EQ(occupancy_of_registers(32), 1);
  EXPECT_DOUBLE_EQ(occupancy_of_registers(128), 0.25);
  EXPECT_DOUBLE_EQ(occupancy_of_registers(255), 0.125);
  EXPECT_EQ(occupancy_of_registers(-1), 0);
}

}  // namespace
}  // namespace vphi::runtime
