// Launches that are divided into what neighbours wait for and the rest (schedule/division.hpp): the
// bits of one device in every order in which the parts may run, and which parts there are.
#include "compiler/schedule/division.hpp"

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "compiler/compile.hpp"
#include "runtime/run/ranks/joint_sums.hpp"
#include "runtime/run/ranks/parts_beside.hpp"
#include "tests/support/cut_ranks.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using program::Launch;
using program::Part;

void agrees_in_every_order(const std::string& path, int ranks, testing::CutSetup setup) {
  for (const auto order : {testing::OrderOfParts::Listed, testing::OrderOfParts::RestFirst,
                           testing::OrderOfParts::GhostsLast}) {
    setup.order = order;
    const auto result = testing::cut_and_compare(path, ranks, setup);
    EXPECT_EQ(result.refused, "") << ranks;
    EXPECT_EQ(result.differs, "") << ranks << " ranks, order " << static_cast<int>(order);
    EXPECT_GT(result.divided, 0) << ranks;
  }
}

/// Kernels of processors, scheduled as for GPUs, so that sums have the same bits too.
testing::CutSetup as_divided(const std::string& lattice) {
  testing::CutSetup setup;
  setup.as_gpu = true, setup.precision = "f64", setup.units = 0;
  setup.lattice = lattice;
  return setup;
}

struct Divided {
  const char* model;
  const char* lattice;
};

class DivisionOf : public ::testing::TestWithParam<Divided> {};

/// The rest neither reads what ends write or what fills the ghosts, nor writes what ends read or
/// what is sent: else one of the orders differs, or a NaN comes out of a ghost. Three ranks have
/// different numbers of planes. All shipped models: tests/long/cut_test.cpp.
TEST_P(DivisionOf, HasTheBitsOfOneDeviceInEveryOrder) {
  for (const int ranks : {2, 3})
    agrees_in_every_order(testing::shipped(GetParam().model), ranks,
                          as_divided(GetParam().lattice));
}

std::string name_of_divided(const ::testing::TestParamInfo<Divided>& info) {
  const std::string model = info.param.model;
  return model.substr(model.find('/') + 1);
}

INSTANTIATE_TEST_SUITE_P(Shipped, DivisionOf,
                         ::testing::Values(Divided{"gauge/su2", "4*4*4*32"},
                                           Divided{"hydro/khi", "32*64"}),
                         name_of_divided);

Compilation share(const char* model, const char* lattice, program::Target target, int units) {
  CompileOptions options;
  options.lattice = lattice;
  options.ranks = 2, options.rank = 1;
  emit::TargetInfo info;
  info.target = target;
  info.is_cpu = target == program::Target::Native;
  info.compute_units = units;
  Compilation c = compile_model(testing::shipped(model), options, info);
  EXPECT_TRUE(c.program.has_value());
  return c;
}

/// The parts have all planes of the rank once; ends are as deep as is sent and as is read.
TEST(Division, PartsHaveThePlanesOfTheRank) {
  for (const auto& [model, lattice, depth] :
       {std::tuple{"gauge/wilson_flow", "8*8*8*16", 1}, std::tuple{"gauge/su2", "8*8*8*16", 2}}) {
    const Compilation c = share(model, lattice, program::Target::Cuda, 1);
    int divided = 0;
    for (std::int64_t step = 0; step < 6; ++step) {  // all orders of a split
      const std::vector<Launch>& list = c.program->launches(step);
      for (std::size_t i = 0; i < list.size(); ++i) {
        const auto kernel = [&](std::size_t k) {
          return static_cast<std::size_t>(list.at(k).kernel);
        };
        if (program::part_of(c.program->kernels[kernel(i)]) != Part::Rest) continue;
        ++divided;
        const auto planes = [&](std::size_t k) {
          return c.plan->kernels[kernel(k)].planes.value();
        };
        const auto ends = planes(i - 1), rest = planes(i);
        EXPECT_EQ(program::part_of(c.program->kernels[kernel(i - 1)]), Part::End);
        EXPECT_EQ(ends.first, c.program->cut.ghost[0]);
        EXPECT_EQ(ends.own, 2 * depth);
        EXPECT_EQ(ends.gap, rest.own);
        EXPECT_EQ(rest.first, ends.first + depth);
        EXPECT_EQ(rest.own, c.program->cut.own - 2 * depth);
        EXPECT_FALSE(list[i - 1].halos.empty());
        EXPECT_TRUE(list[i].halos.empty() && list[i].swap.empty());
      }
    }
    EXPECT_GT(divided, 0) << model;
  }
}

/// What a kernel does to scalars at its end: processors do it in a launch behind the parts, GPUs by
/// the last group of all parts. A sweep of one GPU in several launches and of two then differ by
/// a launch for each that is divided.
TEST(Division, GroupsOfAllPartsCountTogether) {
  const Compilation c = share("gauge/su2", "8*8*8*16", program::Target::Cuda, 1);
  for (std::int64_t step = 0; step < 6; ++step) {
    const std::vector<Launch>& list = c.program->launches(step);
    std::size_t counted = 0;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const auto& kernels = c.program->kernels;
      if (program::part_of(kernels[static_cast<std::size_t>(list[i].kernel)]) != Part::Rest)
        continue;
      std::vector<int> words;
      std::uint32_t groups = 0;
      std::string all;
      for (const std::size_t k : {i - 1, i}) {
        const program::Kernel& kernel = kernels[static_cast<std::size_t>(list[k].kernel)];
        groups += kernel.grid[0];
        all += kernel.source;
        for (const program::Argument& a : kernel.arguments)
          if (a.kind == program::Argument::Kind::Counter)
            words.push_back(program::counts_in(kernels, list[k].kernel, a));
      }
      if (words.empty()) continue;
      ++counted;
      EXPECT_EQ(words, std::vector<int>(2, list[i - 1].kernel));
      const std::string test = "vphi_count_one(counter) == " + std::to_string(groups) + "u - 1u";
      EXPECT_NE(all.find(test), std::string::npos) << test;
      if (i + 1 == list.size()) continue;
      const program::Kernel& next = kernels[static_cast<std::size_t>(list[i + 1].kernel)];
      EXPECT_FALSE(next.name.ends_with("then"));  // no launch of its own
    }
    EXPECT_GT(counted, 0u);
  }
}

/// A rank with few planes has no rest, that of a small lattice takes no time, processors do not
/// compute while they send, and walks along lines have too few lines in the ends.
TEST(Division, NeedsPlanesAndWorkEnough) {
  for (const Compilation& c : {share("gauge/su2", "16*16*16*6", program::Target::Cuda, 1),
                               share("gauge/su2", "8*8*8*16", program::Target::Cuda, 132),
                               share("gauge/su2", "8*8*8*16", program::Target::Native, 1),
                               share("hydro/fireball", "48*48*96", program::Target::Cuda, 1)})
    for (const program::Kernel& kernel : c.program->kernels)
      EXPECT_EQ(program::part_of(kernel), Part::Whole) << kernel.name;
}

/// Notes the calls in their order.
struct Noted : runtime::Lanes {
  std::string calls;
  void aside() override { calls += "aside "; }
  void back() override { calls += "back "; }
  void join() override { calls += "join "; }
};

program::Program of_parts(const std::vector<Part>& parts) {
  program::Program p;
  for (const Part part : parts) {
    p.step.push_back({.kernel = static_cast<int>(p.kernels.size()), .swap = {}});
    program::mark_part(p.kernels.emplace_back(), part);
  }
  return p;
}

TEST(Division, EndsGoAsideAndTheRestGoesOnMeanwhile) {
  const program::Program p =
      of_parts({Part::Whole, Part::End, Part::End, Part::Rest, Part::Whole, Part::End, Part::Rest});
  EXPECT_TRUE(runtime::has_parts(p, p.step));
  Noted lanes;
  runtime::PartsBeside beside(p, &lanes);
  for (const Launch& launch : p.step) {
    beside.before(launch);
    lanes.calls += std::to_string(launch.kernel) + " ";
    beside.after(launch);
  }
  EXPECT_EQ(lanes.calls, "0 aside 1 2 back 3 join 4 aside 5 back 6 join ");
  runtime::PartsBeside in_turn(p, nullptr);
  for (const Launch& launch : p.step) in_turn.before(launch), in_turn.after(launch);
  const program::Program whole = of_parts({Part::Whole});
  EXPECT_FALSE(runtime::has_parts(whole, whole.step));
}

/// Kernels that add sums and follow one another wait for one exchange.
TEST(JointSums, AreThoseOfKernelsThatFollowOneAnother) {
  using Kind = program::Argument::Kind;
  program::Program p;
  const std::vector<std::vector<Kind>> arguments{{Kind::Current, Kind::Partials},
                                                 {Kind::Scalars, Kind::Gathered}};
  for (const auto& kinds : arguments) {
    program::Kernel& kernel = p.kernels.emplace_back();
    for (const Kind kind : kinds) kernel.arguments.push_back({.kind = kind});
  }
  std::vector<Launch> list;
  for (const int kernel : {0, 1, 1, 0, 1, 1}) list.push_back({.kernel = kernel, .swap = {}});
  EXPECT_EQ(runtime::end_of_joint(p, list, 0), 1u);
  EXPECT_EQ(runtime::end_of_joint(p, list, 1), 3u);
  EXPECT_EQ(runtime::end_of_joint(p, list, 4), 6u);
  list[4].halos.push_back({});  // filled between
  EXPECT_EQ(runtime::end_of_joint(p, list, 4), 5u);
}

}  // namespace
}  // namespace vphi
