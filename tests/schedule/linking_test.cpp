// Linking: the epilogue that computes a scalar, and the launches of a sequence.
#include "compiler/schedule/linking.hpp"

#include "tests/schedule/systems.hpp"

namespace vphi::test {
namespace {

using kernel::ScalarAssign;
using schedule::Assigns;

/// A sequence written as text: scalars before a sweep, its name, scalars of its epilogue.
struct Sweep {
  std::vector<std::string> before;
  std::string name;
  std::vector<std::string> epilogue;
};

Assigns assigns(Arena& arena, const std::vector<std::string>& names) {
  Assigns list;
  for (const std::string& name : names) list.push_back({name, arena.integer(1)});
  return list;
}

schedule::LoopSequence sequence(Arena& arena, const std::vector<Sweep>& sweeps,
                                const std::vector<std::string>& finish) {
  schedule::LoopSequence result;
  for (const Sweep& sweep : sweeps) {
    kernel::SiteLoop& loop = result.sweeps.emplace_back();
    loop.kernel.name = sweep.name;
    loop.kernel.epilogue = assigns(arena, sweep.epilogue);
    loop.before = assigns(arena, sweep.before);
    result.swaps.emplace_back();
  }
  result.finish = assigns(arena, finish);
  return result;
}

std::vector<std::string> names(const Assigns& list) {
  std::vector<std::string> result;
  for (const ScalarAssign& assign : list) result.push_back(assign.slot);
  return result;
}

TEST(Linking, ScalarsGoBeforeWhatReadsThem) {
  using Names = std::vector<std::string>;
  const struct {
    const char* what;
    std::vector<Sweep> sweeps;
    Names finish, needs;
    std::vector<Names> epilogues;
  } rows[] = {
      {"nothing", {}, {}, {}, {}},
      {"scalars alone are the caller's to place", {}, {"a", "b"}, {"a", "b"}, {}},
      {"what the first sweep reads is the caller's; the end is the last sweep's",
       {{{"a"}, "one", {"sum"}}},
       {"end"},
       {"a"},
       {{"sum", "end"}}},
      {"what a later sweep reads follows the sums of the one before",
       {{{"a"}, "one", {"sum"}}, {{"b", "c"}, "two", {}}},
       {"end"},
       {"a"},
       {{"sum", "b", "c"}, {"end"}}},
  };
  Arena arena;
  for (const auto& row : rows) {
    const schedule::Linked linked = schedule::link(sequence(arena, row.sweeps, row.finish));
    EXPECT_EQ(names(linked.needs), row.needs) << row.what;
    EXPECT_EQ(linked.empty(), row.sweeps.empty()) << row.what;
    std::vector<Names> epilogues;
    for (const kernel::Kernel& k : linked.kernels) epilogues.push_back(names(k.epilogue));
    EXPECT_EQ(epilogues, row.epilogues) << row.what;
  }
}

TEST(Linking, LaunchesAreNumberedInOrder) {
  physics::System system = empty_system(1, 8, 1, 1);
  Arena& arena = *system.arena;
  schedule::Storage storage(2);
  for (const int array : {1, 0}) {  // arrays are not buffers
    program::Buffer buffer;
    buffer.name = array == 0 ? "u" : "v";
    storage.allocate(array, buffer);
  }
  schedule::KernelList kernels(system, storage);
  EXPECT_TRUE(kernels.add_scalars("none", {}).empty());
  schedule::LoopSequence first = sequence(arena, {{{}, "one", {}}, {{}, "two", {"end"}}}, {});
  first.swaps = {{0}, {0, 1}};
  const schedule::Launches launches = kernels.add(schedule::link(std::move(first)));
  ASSERT_EQ(launches.size(), 2u);
  EXPECT_EQ(launches[0].kernel, 0);
  EXPECT_EQ(launches[0].swap, (std::vector<int>{1}));
  EXPECT_EQ(launches[1].kernel, 1);
  EXPECT_EQ(launches[1].swap, (std::vector<int>{1, 0}));
  EXPECT_EQ(kernels.add_scalars("three", assigns(arena, {"a"}))[0].kernel, 2);
  EXPECT_EQ(kernels.kernels()[2].name, "three");
}

/// A kernel over pairs of sites ends without an epilogue.
TEST(Linking, WhatFollowsSumsOverPairsRunsByItself) {
  physics::System system = empty_system(1, 8, 1, 1);
  Arena& arena = *system.arena;
  schedule::Storage storage(1);
  schedule::KernelList kernels(system, storage);
  schedule::LoopSequence pairs = sequence(arena, {{{}, "pairs", {"end"}}}, {});
  pairs.sweeps[0].kernel.stores = {{0, arena.make(Op::PairSum, {arena.load(0)})}};
  const schedule::Launches launches = kernels.add(schedule::link(std::move(pairs)));
  ASSERT_EQ(launches.size(), 2u);
  EXPECT_TRUE(kernels.kernels()[0].epilogue.empty());
  EXPECT_EQ(kernels.kernels()[1].name, "pairs_scalars");
  EXPECT_EQ(names(kernels.kernels()[1].epilogue), (std::vector<std::string>{"end"}));
}

}  // namespace
}  // namespace vphi::test
