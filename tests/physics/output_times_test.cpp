// Outputs by time: each row is of the first step at or after its multiple of the time, for any
// clock, and equals the row of an output at every step.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::Simulation;

const std::string kRing =
    "model ring\nlattice ring: 16, length = 16, boundary = periodic\nfield u: real\n"
    "u'' = lap(u)\ninit u = cos(2*pi*x/16), u' = 0, START\n"
    "evolve leapfrog, dt = 0.04, until = t >= END\n"
    "every 0.5: m = mean(u^2) -> \"by_time.h5\"\nevery 1 step: all = mean(u^2) -> \"all.h5\"\n";

std::string filled(std::string text, const std::string& what, const std::string& value) {
  return text.replace(text.find(what), what.size(), value);
}

/// Rows of `by` are those of `all` at the first step with t >= from + k*interval, and the last one.
void expect_first_steps(const runtime::Series& by, const runtime::Series& all, double from,
                        double interval) {
  std::vector<std::size_t> wanted;
  for (double k = 0;; ++k) {
    const auto row = std::ranges::find_if(
        all.points, [&](const auto& point) { return (point.first - from) / interval + 1e-9 >= k; });
    if (row == all.points.end()) break;
    wanted.push_back(static_cast<std::size_t>(row - all.points.begin()));
  }
  wanted.push_back(all.points.size() - 1);
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  ASSERT_EQ(by.points.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_EQ(by.steps[i], all.steps[wanted[i]]);
    EXPECT_EQ(by.points[i], all.points[wanted[i]]);
  }
}

TEST(OutputTimes, BetweenTwoSteps) {
  const auto r = testing::run_text(filled(filled(kRing, ", START", ""), "END", "2.1"), {});
  const runtime::Series* by = r.find("m");
  ASSERT_NE(by, nullptr);
  const std::vector<std::int64_t> steps{0, 13, 25, 38, 50, 53};
  EXPECT_EQ(by->steps, steps);
  expect_first_steps(*by, *r.find("all"), 0, 0.5);
}

TEST(OutputTimes, CountFromTheStartTime) {
  const auto r = testing::run_text(filled(filled(kRing, "START", "t = 3.2"), "END", "5.3"), {});
  expect_first_steps(*r.find("m"), *r.find("all"), 3.2, 0.5);
  EXPECT_EQ(r.find("m")->steps.at(1), 13);
}

/// Steps of conformal time: t runs faster and faster, by a factor of 20 over 3 e-folds.
std::string expanding(const std::string& sweep, const std::string& more) {
  return "model inflation\nunits reduced_planck\nparam m = 1e-5\n" + sweep +
         "lattice box: 4^3, length = 1/m, boundary = periodic\nmetric frw(a)\nfield phi: real\n"
         "potential V = 3*m^2*(1 + MU*phi^2)\nrescale A = 1, B = m, s = -1\n"
         "init phi = 0.1, phi' = 0\nevolve leapfrog, dt = 2^-8/m, until = t >= 3/m\n"
         "every 0.4/m: by = mean(phi), a -> \"by_time.h5\"\n" +
         more;
}

TEST(OutputTimes, OfConformalTime) {
  const auto r = testing::run_text(
      filled(expanding("", "every 1 step: all = mean(phi) -> \"all.h5\"\n"), "MU", "0.1"), {});
  const runtime::Series& all = *r.find("all");
  const std::size_t last = all.points.size() - 1;
  const double first_step = all.points[1].first - all.points[0].first;
  const double last_step = all.points[last].first - all.points[last - 1].first;
  EXPECT_GT(last_step, 10 * first_step);
  expect_first_steps(*r.find("by"), all, 0, 0.4 / 1e-5);
  // the same rows without an output at each step, which would show the run every time
  const auto alone = testing::run_text(filled(expanding("", ""), "MU", "0.1"), {});
  EXPECT_EQ(alone.find("by")->steps, r.find("by")->steps);
  EXPECT_EQ(alone.find("by")->points, r.find("by")->points);
  for (const auto& note : alone.notes) EXPECT_EQ(note.find("passed by"), std::string::npos) << note;
}

// Instances whose clocks differ have common rows: where the last one has come so far.
TEST(OutputTimes, OfASweepAreWhereAllHaveComeSoFar) {
  const std::string text = filled(expanding("sweep mu = [0.1, 1, 9]\n", ""), "MU", "mu");
  const auto whole = testing::run_text(text, {});
  const runtime::Series& by = *whole.find("by");
  std::vector<runtime::RunResult> single;
  for (const char* mu : {"0.1", "1", "9"})
    single.push_back(testing::run_text(
        filled(expanding("", "every 1 step: all = t -> \"all.h5\"\n"), "MU", mu), {}));
  for (std::size_t row = 0; row + 1 < by.steps.size(); ++row) {
    std::int64_t slowest = 0;
    for (const auto& r : single) slowest = std::max(slowest, r.find("by")->steps.at(row));
    EXPECT_EQ(by.steps[row], slowest) << row;
  }
  // parts have rows of their own steps, brought together by their times
  Simulation parts;
  parts.batch = 1;
  const auto apart = testing::run_text(text, parts);
  const runtime::Series& own = *apart.find("by");
  ASSERT_EQ(own.values.size(), by.values.size());
  for (std::size_t row = 0; row + 1 < own.values.size(); ++row)
    for (std::size_t i = 0; i < single.size(); ++i)
      EXPECT_NEAR(own.values[row].at(i), single[i].find("by")->points.at(row).second, 1e-9) << row;
}

}  // namespace
}  // namespace vphi
