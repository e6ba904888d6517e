// The model of the speed of a cut lattice (cut_model.hpp): what it counts, against counts by hand.
#include "runtime/run/ranks/cut_model.hpp"

#include <gtest/gtest.h>

#include "compiler/compile.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

program::Program share(const char* model, const char* lattice, int ranks) {
  CompileOptions options;
  options.lattice = lattice;
  options.precision = "f32";
  options.ranks = ranks, options.rank = 0;
  emit::TargetInfo cuda;
  cuda.target = program::Target::Cuda;
  cuda.is_cpu = false;
  Compilation c = compile_model(testing::shipped(model), options, cuda);
  EXPECT_TRUE(c.program.has_value());
  return std::move(*c.program);
}

/// preheating reads one plane on each side of phi and of chi, and needs sums once a step.
TEST(CutModel, CountsPlanesAndSumsOfAStep) {
  const program::Program p = share("cosmology/preheating", "64*32*128", 4);
  const runtime::Traffic traffic = runtime::traffic_of_step(p);
  EXPECT_EQ(traffic.planes, 2 * 2 * 64 * 32 * sizeof(float));
  EXPECT_NEAR(traffic.exchanges, 1, 0.1);
  EXPECT_GT(traffic.sums, 0);
}

/// SHASTA's sweep along z reads six planes on each side of four quantities and three of N; those
/// along x and y read none across z, and the sweeps before it send once a step what it reads.
TEST(CutModel, PlanesAreSentOnceForTheSweepThatReadsThem) {
  const program::Program p = share("hydro/fireball", "48^3", 2);
  const runtime::Traffic traffic = runtime::traffic_of_step(p);
  EXPECT_EQ(traffic.planes, (4 * 12 + 6) * 48 * 48 * sizeof(float));
}

/// More than eight ranks add up their own sums first: six numbers of preheating.
TEST(CutModel, ManyRanksSendOneOfEachSum) {
  const auto sums = [](int ranks) {
    return runtime::traffic_of_step(share("cosmology/preheating", "64*32*256", ranks)).sums;
  };
  EXPECT_LT(sums(16), 10 * sizeof(double));
  EXPECT_GT(sums(16), 0);
  EXPECT_GT(sums(8), 4 * sums(16));
}

/// A step of yoshida4 has three forces, and each needs the angles of all other bodies.
TEST(CutModel, CountsTheSitesThatPairsRead) {
  CompileOptions options;
  options.set = {{"N", "65536"}};
  options.ranks = 4, options.rank = 0;
  emit::TargetInfo cuda;
  cuda.target = program::Target::Cuda;
  cuda.is_cpu = false;
  const Compilation c = compile_model(testing::shipped("particles/ring"), options, cuda);
  ASSERT_TRUE(c.program.has_value());
  EXPECT_EQ(runtime::traffic_of_step(*c.program).planes, 3 * 3 * 16384 * sizeof(double));
}

/// Of each array of a map a rank of four has a quarter of the rows, 33 modes each, and three
/// quarters of the columns belong to others.
TEST(CutModel, CountsTheColumnsOfStepsInFourierSpace) {
  const program::Program p = share("teaching/rolls", "64*64", 4);
  std::size_t arrays = 0;
  for (const program::Launch& launch : p.step)
    for (const int map : launch.maps) {
      const program::FourierMap& of = p.maps[static_cast<std::size_t>(map)];
      arrays += of.from.size() + of.to.size();
    }
  EXPECT_GE(arrays, 5u);  // etd2: u and F to modes, y back; the change of F to modes, u back
  const runtime::Traffic traffic = runtime::traffic_of_step(p);
  const double columns = 33 * 64 * 16 / 4 * 3 / 4;
  EXPECT_EQ(traffic.planes, static_cast<double>(arrays) * columns);
  EXPECT_GE(traffic.exchanges, static_cast<double>(arrays));
}

TEST(CutModel, AnExchangeTakesItsTimeAndThatOfItsBytes) {
  const program::Program p = share("cosmology/preheating", "64*32*128", 4);
  const runtime::Traffic traffic = runtime::traffic_of_step(p);
  runtime::Cluster cluster = runtime::usual_cluster();
  cluster.gpus_a_machine = 4;
  cluster.inside = {1e-3, 1e9}, cluster.between = {2e-3, 1e8};
  const double bytes = traffic.planes + 3 * traffic.sums;  // sums go to the three others
  EXPECT_NEAR(runtime::step_of_rank(p, 4, cluster).exchanges,
              1e-3 * traffic.exchanges + bytes / 1e9, 1e-9);
  cluster.gpus_a_machine = 2;
  EXPECT_NEAR(runtime::step_of_rank(p, 4, cluster).exchanges,
              2e-3 * traffic.exchanges + bytes / 1e8, 1e-9);
  EXPECT_GT(runtime::step_of_rank(p, 4, cluster).kernels, 0);
}

/// Three sweeps of a step send planes once, beside the rest of one of them, and the sums of each.
TEST(CutModel, WhatGoesBesideALaunchCountsAsFarAsItTakesLonger) {
  const program::Program p = share("gauge/su2", "32*32*32*64", 2);
  const runtime::Traffic traffic = runtime::traffic_of_step(p);
  EXPECT_GT(traffic.beside, traffic.exchanges / 2);
  EXPECT_GT(traffic.exchanges, traffic.beside);
  runtime::Cluster cluster = runtime::usual_cluster();
  cluster.inside = {0, 1e12};  // planes alone, and launches take longer
  const runtime::StepOfRank fast = runtime::step_of_rank(p, 2, cluster);
  EXPECT_NEAR(fast.hidden + fast.exchanges, (traffic.planes + traffic.sums) / 1e12, 1e-9);
  EXPECT_GT(fast.hidden, fast.exchanges);
  cluster.inside = {0, 1e9};  // longer than any part
  const runtime::StepOfRank slow = runtime::step_of_rank(p, 2, cluster);
  EXPECT_NEAR(slow.hidden + slow.exchanges, (traffic.planes + traffic.sums) / 1e9, 1e-7);
  EXPECT_GT(slow.exchanges, slow.hidden);
  EXPECT_GT(slow.hidden, fast.hidden);
}

}  // namespace
}  // namespace vphi
