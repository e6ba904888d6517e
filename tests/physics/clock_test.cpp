// The end of a run and the times of outputs, given by t: times that are whole numbers of steps are
// counted.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

std::string ring(const std::string& dt, const std::string& until, const std::string& more = "") {
  return fmt::format(R"(model ring
lattice ring: 8, length = 80, boundary = periodic
field u: real
u'' = lap(u)
init u = cos(2*pi*x/80), u' = 0
evolve leapfrog, dt = {}, until = {}
every 1 steps: mean(u^2) -> "r.h5"
{})",
                     dt, until, more);
}

std::int64_t steps(const std::string& dt, const std::string& until) {
  return testing::run_text(ring(dt, until), {}).steps;
}

// n*dt lies on either side of the bound: 3*0.1 > 0.3, 6*0.7 < 4.2, 100*0.01 = 1.
TEST(Clock, BoundsThatAreWholeNumbersOfSteps) {
  const struct {
    const char *dt, *time;
    std::int64_t count;
  } rows[] = {{"0.1", "0.3", 3},  {"0.1", "0.6", 6},     {"0.7", "4.2", 6},
              {"0.01", "1", 100}, {"0.1", "0.1*12", 12}, {"1/3", "1", 3},
              {"0.3", "2.1", 7},  {"0.05", "0.15", 3},   {"2^-4", "1", 16}};
  for (const auto& row : rows) {
    const std::string time = row.time;
    EXPECT_EQ(steps(row.dt, "t >= " + time), row.count) << row.dt << " " << time;
    EXPECT_EQ(steps(row.dt, "t > " + time), row.count + 1) << row.dt << " " << time;
    EXPECT_EQ(steps(row.dt, time + " <= t"), row.count) << row.dt << " " << time;
    EXPECT_EQ(steps(row.dt, time + " < t"), row.count + 1) << row.dt << " " << time;
    EXPECT_EQ(steps(row.dt, "not (t < " + time + ")"), row.count) << row.dt << " " << time;
    EXPECT_EQ(steps(row.dt, "t >= " + time + " and mean(u^2) > 0"), row.count) << row.dt;
  }
}

TEST(Clock, OtherBoundsStayAsTheyAre) {
  EXPECT_EQ(steps("0.1", "t > 0.35"), 4);
  EXPECT_EQ(steps("0.1", "t >= 0.35"), 4);
  EXPECT_EQ(steps("0.1", "t > 0.3 - 1e-6"), 3);
  EXPECT_EQ(steps("0.1", "t >= 0.3 + 1e-6"), 4);
}

TEST(Clock, CountsFromTheStart) {
  const auto steps_from = [](const char* start, const char* until) {
    std::string text = ring("0.1", until);
    text.insert(text.find("evolve"), std::string("init t = ") + start + "\n");
    return testing::run_text(text, {}).steps;
  };
  EXPECT_EQ(steps_from("0.3", "t >= 0.6"), 3);
  EXPECT_EQ(steps_from("0.3", "t > 0.6"), 4);
  EXPECT_EQ(steps_from("-0.5", "t >= 0.1"), 6);
  EXPECT_EQ(steps_from("-0.5", "t > 0.1"), 7);
  EXPECT_EQ(steps_from("0.05", "t >= 0.4"), 4);
}

TEST(Clock, OutputsBeginAtTheirTime) {
  const auto result =
      testing::run_text(ring("0.1", "t >= 1",
                             "every 1 steps, after = t >= 0.3: early = min(u) -> \"r.h5\"\n"
                             "every 1 steps: late = max(u), after = t >= 0.3 -> \"r.h5\"\n"),
                        {});
  EXPECT_EQ(result.find("after"), nullptr) << "an option became an output";
  for (const char* name : {"early", "late"}) {
    ASSERT_NE(result.find(name), nullptr);
    EXPECT_NEAR(result.find(name)->points.front().first, 0.3, 1e-12);
  }
}

TEST(Clock, OutputsByTime) {
  const struct {
    const char *dt, *every;
    int steps;
  } rows[] = {
      {"0.1", "every 0.3", 3},    {"0.01", "every 0.5", 50},          {"0.1", "every 0.7", 7},
      {"1/3", "every 1", 3},      {"0.05", "every 0.35/dt steps", 7}, {"0.1", "every 3*dt", 3},
      {"0.1", "every 3 steps", 3}};
  for (const auto& row : rows) {
    const auto made = testing::compile_text(
        ring(row.dt, "t >= 1", std::string(row.every) + ": here = max(u) -> \"r.h5\"\n"), {});
    ASSERT_TRUE(made.program);
    EXPECT_EQ(made.program->outputs.at(1).every, row.steps) << row.dt << " " << row.every;
  }
  const auto result =
      testing::run_text(ring("0.1", "t >= 1", "every 0.2: here = max(u) -> \"r.h5\"\n"), {});
  const auto* here = result.find("here");
  ASSERT_NE(here, nullptr);
  ASSERT_EQ(here->points.size(), 6U);
  for (int i = 0; i < 6; ++i) EXPECT_NEAR(here->points[i].first, 0.2 * i, 1e-12);
}

}  // namespace
}  // namespace vphi
