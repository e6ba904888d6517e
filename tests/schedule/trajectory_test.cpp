// Levels of a trajectory as kicks and drifts.
#include "compiler/schedule/steps/trajectory.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "compiler/physics/chains/hmc.hpp"

namespace vphi::schedule {
namespace {

constexpr long double kW = 0.1931833275037836L;

LevelFlows leapfrog(std::int64_t steps) {
  return {{{true, 0.5L}, {false, 1}, {true, 0.5L}}, steps};
}
LevelFlows omelyan2(std::int64_t steps) {
  return {{{true, kW}, {false, 0.5L}, {true, 1 - 2 * kW}, {false, 0.5L}, {true, kW}}, steps};
}

std::map<int, int> counted(const std::vector<TrajectoryFlow>& flows) {
  std::map<int, int> counts;
  for (const TrajectoryFlow& flow : flows) ++counts[flow.level];
  return counts;
}

TEST(Trajectory, OneLevel) {
  const auto flows = trajectory_flows({omelyan2(10)}, 2);
  EXPECT_EQ(counted(flows), (std::map<int, int>{{-1, 20}, {0, 21}}));  // kicks in a row are one
  EXPECT_NEAR(static_cast<double>(flows[0].length), static_cast<double>(kW * 0.2L), 1e-18);
  EXPECT_NEAR(static_cast<double>(flows[4].length), static_cast<double>(2 * kW * 0.2L), 1e-18);
}

/// Sexton and Weingarten: h of the outer level is n steps of the inner one.
TEST(Trajectory, Levels) {
  const auto flows = trajectory_flows({omelyan2(6), leapfrog(2), leapfrog(3)}, 1);
  EXPECT_EQ(counted(flows), (std::map<int, int>{{-1, 72}, {0, 13}, {1, 25}, {2, 73}}));
  std::map<int, long double> sums;
  for (std::size_t i = 0; i < flows.size(); ++i) {
    sums[flows[i].level] += flows[i].length;
    const TrajectoryFlow& mirror = flows[flows.size() - 1 - i];
    EXPECT_EQ(flows[i].level < 0, mirror.level < 0);
    if (i > 0) {
      EXPECT_NE(flows[i].level, flows[i - 1].level);
    }
  }
  for (const auto& [level, sum] : sums) EXPECT_NEAR(static_cast<double>(sum), 1, 1e-15) << level;
}

/// Kicks at the same links are one, also across levels.
TEST(Trajectory, KicksAcrossLevels) {
  const auto flows = trajectory_flows({omelyan2(6), omelyan2(2), omelyan2(3)}, 1);
  EXPECT_EQ(counted(flows), (std::map<int, int>{{-1, 288}, {0, 13}, {1, 49}, {2, 289}}));
}

/// Actions of one level are kicked at the same links for the same lengths; the drifts are those of
/// a level with one of them.
TEST(Trajectory, ActionsOfOneLevel) {
  const LevelFlows with{{}, physics::kWithLevelBefore};
  const auto flows = trajectory_flows({omelyan2(3), with, omelyan2(2), with, with}, 1);
  const auto single = trajectory_flows({omelyan2(3), omelyan2(2)}, 1);
  const std::map<int, int> first_of{{0, 0}, {1, 2}};  // by the level of `single`
  for (const auto& [level, first] : first_of) {
    for (int action = first; action <= (level == 0 ? 1 : 4); ++action) {
      std::vector<TrajectoryFlow> own, wanted;
      for (const TrajectoryFlow& flow : flows)
        if (flow.level < 0 || flow.level == action) own.push_back(flow);
      for (const TrajectoryFlow& flow : single)
        if (flow.level < 0 || flow.level == level) wanted.push_back(flow);
      ASSERT_EQ(own.size(), wanted.size()) << action;
      for (std::size_t i = 0; i < own.size(); ++i) {
        EXPECT_EQ(own[i].level < 0, wanted[i].level < 0) << action;
        EXPECT_EQ(own[i].length, wanted[i].length) << action;
      }
    }
  }
}

/// Backwards it is the same list: the trajectory is reversible.
TEST(Trajectory, Symmetric) {
  const auto flows = trajectory_flows({leapfrog(3), omelyan2(2)}, 1);
  std::vector<TrajectoryFlow> drifts;
  long double before = 0, behind = 0;
  for (const TrajectoryFlow& flow : flows)
    if (flow.level < 0) drifts.push_back(flow);
  for (std::size_t i = 0; i < drifts.size(); ++i) {
    before += drifts[i].length;
    behind += drifts[drifts.size() - 1 - i].length;
    EXPECT_NEAR(static_cast<double>(before), static_cast<double>(behind), 1e-15);
  }
}

}  // namespace
}  // namespace vphi::schedule
