// Where the sums of ranks are added up (schedule/ends_of_sums.hpp).
#include "compiler/schedule/ends_of_sums.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/algebra/expr.hpp"
#include "compiler/compile.hpp"
#include "runtime/run/ranks/cut_model.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using program::Launch;

/// Kernels without arrays, by their scalars. A kernel with a sum of its own has an end, whose
/// number is 100 higher.
class PlanOfScalars {
 public:
  /// A kernel that reads `read` at its sites.
  int plain(const char* read) {
    kernel::Kernel& made = plan.kernels.emplace_back();
    made.stores.push_back({0, arena.symbol(read)});
    return last();
  }
  /// A kernel whose epilogue is `slot` = `slot` + its sum.
  int sum(const char* slot) {
    const std::string own = "sum_" + std::to_string(plan.kernels.size());
    kernel::Kernel& made = plan.kernels.emplace_back();
    made.reductions.push_back({own, kernel::ReduceKind::Sum, arena.integer(1)});
    made.epilogue.push_back({slot, arena.symbol(slot) + arena.symbol(own)});
    end_of[last()] = last() + 100;
    return last();
  }
  /// A kernel that sets `slot`, without sums.
  int sets(const char* slot) {
    plan.kernels.emplace_back().epilogue.push_back({slot, arena.integer(1)});
    return last();
  }

  std::string order(const std::vector<Launch>& list) const {
    std::string text;
    for (const Launch& launch : schedule::with_ends_of_sums(plan, list, end_of, parts)) {
      text += std::to_string(launch.kernel);
      if (!launch.halos.empty()) text += "h";
      if (launch.solve >= 0) text += "s";
      if (!launch.maps.empty()) text += "m";
      text += " ";
    }
    return text;
  }
  std::string order(const std::vector<int>& kernels) const {
    std::vector<Launch> list;
    for (const int kernel : kernels) list.push_back({.kernel = kernel, .swap = {}});
    return order(list);
  }

  algebra::Arena arena;
  schedule::Plan plan;
  std::map<int, int> end_of;
  std::set<int> parts;

 private:
  int last() const { return static_cast<int>(plan.kernels.size()) - 1; }
};

TEST(EndsOfSums, WaitForOneAnother) {
  PlanOfScalars p;
  const int a = p.sum("lost"), b = p.sum("lost"), other = p.plain("t");
  EXPECT_EQ(p.order(std::vector{a, b, other}), "0 1 2 100 101 ");
  EXPECT_EQ(p.order(std::vector{other, a}), "2 0 100 ");
  EXPECT_EQ(p.order(std::vector{other, other}), "2 2 ");
}

TEST(EndsOfSums, ComeBeforeWhoeverMissesThem) {
  PlanOfScalars p;
  const int a = p.sum("lost"), b = p.sum("lost");
  EXPECT_EQ(p.order(std::vector{a, b, a}), "0 1 100 101 0 100 ") << "its sums would be lost";
  const int reads = p.plain("lost"), reads_sum = p.plain("sum_0"), sets = p.sets("lost");
  EXPECT_EQ(p.order(std::vector{a, reads}), "0 100 2 ");
  EXPECT_EQ(p.order(std::vector{a, reads_sum}), "0 100 3 ");
  EXPECT_EQ(p.order(std::vector{a, sets}), "0 100 4 ") << "which of them is last decides";
  const int stop = p.sets("stop"), watches = p.sets("watched");
  p.plan.kernels[0].epilogue.push_back({"more", p.arena.symbol("stop")});
  EXPECT_EQ(p.order(std::vector{a, stop}), "0 100 5 ") << "the end would read the new value";
  EXPECT_EQ(p.order(std::vector{a, watches}), "0 6 100 ");
}

/// What a kernel reads beside its values: colour, step, ...
TEST(EndsOfSums, ComeBeforeWhoeverNeedsTheScalarOtherwise) {
  PlanOfScalars p;
  const int a = p.sum("slot"), other = p.plain("t");
  kernel::Kernel& kernel = p.plan.kernels[1];
  EXPECT_EQ(p.order(std::vector{a, other}), "0 1 100 ");
  for (const int place : {0, 1, 2, 3, 4, 5}) {
    const kernel::Kernel before = kernel;
    if (place == 0) kernel.still = "slot";
    if (place == 1) kernel.random.step = "slot";
    if (place == 2) kernel.random.instance = "slot";
    if (place == 3) kernel.colours = kernel::Colours{2, {1, 1, 1, 1}, 0, "slot"};
    if (place == 4) kernel.paired_angles.push_back(p.arena.symbol("slot"));
    if (place == 5) kernel.planes = kernel::Planes{.origin = "slot"};
    EXPECT_EQ(p.order(std::vector{a, other}), "0 100 1 ") << place;
    kernel = before;
  }
}

TEST(EndsOfSums, GoWithPlanesThatAreSent) {
  PlanOfScalars p;
  const int a = p.sum("lost"), b = p.sum("lost"), other = p.plain("t");
  std::vector<Launch> list(4);
  list[0].kernel = a, list[1].kernel = b, list[2].kernel = other, list[3].kernel = other;
  list[1].halos.emplace_back();
  EXPECT_EQ(p.order(list), "0 1h 100 101 2 2 ");
  list[1].halos.clear(), list[2].halos.emplace_back();
  EXPECT_EQ(p.order(list), "0 1 2h 100 101 2 ");
  // not between what is sent and what is computed meanwhile
  p.parts = {other};
  EXPECT_EQ(p.order(list), "0 1 100 101 2h 2 ");
}

/// A map or a solve comes behind all ends, and ghosts are filled behind the maps.
TEST(EndsOfSums, AreDoneBeforeMapsAndSolves) {
  PlanOfScalars p;
  const int a = p.sum("lost"), other = p.plain("t");
  std::vector<Launch> list(2);
  list[0].kernel = a, list[1].kernel = other;
  list[1].solve = 0;
  EXPECT_EQ(p.order(list), "0 1 100s ");
  list[1].solve = -1, list[1].maps = {0}, list[1].halos.emplace_back();
  EXPECT_EQ(p.order(list), "0 1 100hm ");
  EXPECT_EQ(p.order({list[1]}), "1hm ");
}

/// Three sweeps leave sums of what flows out, and the planes for the sweep along z are sent once.
/// With them go all sums that are there: in the orders zxy and zyx the planes of the next step,
/// with all three. Of the other four orders one exchange has planes, and a second one the later
/// sums.
TEST(EndsOfSums, OfAStepThatLosesMatterNeedNoExchangesOfTheirOwn) {
  CompileOptions options;
  options.lattice = "48^3", options.precision = "f32";
  options.ranks = 2, options.rank = 0;
  emit::TargetInfo cuda;
  cuda.target = program::Target::Cuda, cuda.is_cpu = false;
  const Compilation c = compile_model(testing::shipped("hydro/fireball"), options, cuda);
  ASSERT_TRUE(c.program.has_value());
  EXPECT_NEAR(runtime::traffic_of_step(*c.program).exchanges, 10. / 6, 1e-12);
}

}  // namespace
}  // namespace vphi
