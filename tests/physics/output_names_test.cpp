// Outputs that differ in their options alone are datasets of their own.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

TEST(OutputNames, HoldTheOptionsWhereTheseTellThemApart) {
  const auto made = testing::compile_text(R"(model ring
lattice box: 8^2, length = 1, boundary = periodic
field u: real
u'' = lap(u)
init u = cos(2*pi*x), u' = 0
evolve leapfrog, dt = 0.1*dx, until = t >= 1
every 8 steps: spectrum(u), spectrum(u, type = 1), profile(u, along = x) -> "a.h5"
at end: spectrum(u), profile(u, along = y), spectrum(u^2, type = 1) -> "a.h5"
at end: spectrum(u, type = 1), mine = spectrum(u, type = 1) -> "b.h5"
)",
                                          {});
  ASSERT_TRUE(made.program);
  std::vector<std::string> names;
  for (const auto& output : made.program->outputs)
    for (const auto& field : output.fields) names.push_back(output.file + " " + field.name);
  const std::vector<std::string> expected{
      "a.h5 spectrum(u)",           "a.h5 spectrum(u, type = 1)",
      "a.h5 profile(u, along = x)", "a.h5 spectrum(u)",
      "a.h5 profile(u, along = y)", "a.h5 spectrum(u^2)",
      "b.h5 spectrum(u)",           "b.h5 mine"};
  std::vector<std::string> sorted = expected;
  std::ranges::sort(sorted), std::ranges::sort(names);
  EXPECT_EQ(names, sorted);
}

// ---- names of outputs in `plot` and `expect` ---------------------------------------------------

constexpr const char* kNoisy = R"(model noisy
sweep m2 = [0.5, 1, 2]
sweep path = 1..50
var x: real
x' = -m2*x + noise
init x = 0
evolve euler_maruyama, dt = 0.01, until = t > 5
every 50 steps, after = t > 1: late = mean(x^2, over = [path, time]), mean(x, over = path) -> "n.h5"
at end: S = mean(x^2, over = path), path_end = x -> "n.h5"
)";

TEST(OutputNames, InPlotsAndPromisesStandForTheirExpressions) {
  const auto named = testing::run_text(std::string(kNoisy) +
                                           "plot S against m2\n"
                                           "plot sqrt(S)/2 against m2\n"
                                           "plot late against m2\n"
                                           "expect S < 0.6, late - 2*S < -0.2, S == 0.2 within S\n"
                                           "expect max(S, late) < 10, path_end^2 < 100\n",
                                       {});
  const auto written = testing::run_text(
      std::string(kNoisy) +
          "plot mean(x^2, over = path) against m2\n"
          "plot sqrt(mean(x^2, over = path))/2 against m2\n"
          "plot mean(x^2, over = [path, time]) against m2\n"
          "expect mean(x^2, over = path) < 0.6\n"
          "expect mean(x^2, over = [path, time]) - 2*mean(x^2, over = path) < -0.2\n"
          "expect mean(x^2, over = path) == 0.2 within mean(x^2, over = path)\n"
          "expect max(mean(x^2, over = path), mean(x^2, over = [path, time])) < 10\n"
          "expect x^2 < 100\n",
      {});
  ASSERT_EQ(named.plots.size(), 3u);
  ASSERT_EQ(written.plots.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    ASSERT_EQ(named.plots[i].y.size(), 3u);
    EXPECT_EQ(named.plots[i].y, written.plots[i].y) << i;
    EXPECT_EQ(named.plots[i].error, written.plots[i].error) << i;
  }
  EXPECT_EQ(named.plots[0].name, "S");  // what the line says
  EXPECT_EQ(named.plots[1].name, "sqrt(S)/2");
  // <x^2> = (1 - exp(-2 m2 t))/(2 m2) is what the curve is of; 50 paths: 20 % each
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_NEAR(named.plots[0].y[i] * 2 * named.plots[0].x[i], 1, 0.8);
  ASSERT_EQ(named.expectations.size(), 5u);
  ASSERT_EQ(written.expectations.size(), 5u);
  bool kept = true;
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(named.expectations[i].ok, written.expectations[i].ok) << i;
    EXPECT_EQ(named.expectations[i].value, written.expectations[i].value) << i;
    kept = kept && named.expectations[i].ok;
  }
  EXPECT_FALSE(kept) << "the bounds are chosen so that some are broken: m2 = 0.5 has <x^2> = 1";
  EXPECT_EQ(named.expectations[0].text, "S < 0.6");
}

// What the model declares means the same on every line; an index is not an output.
TEST(OutputNames, GiveWayToWhatTheModelDeclares) {
  const auto result = testing::run_text(R"(model own
particles body: 3
var x[i]: real
x[i]' = 0
init x[i] = i
evolve rk4, dt = 0.1, until = t > 0.25
E = 7
at end: E = max(x[i], i) + 100, k = 1000, pi = 5, top = max(x[i], i) -> "o.h5"
expect E == 7, max(x[k], k) == 2, pi < 4, max(top, 1) == 2
)",
                                        {});
  ASSERT_EQ(result.expectations.size(), 4u);
  for (const auto& promise : result.expectations)
    EXPECT_TRUE(promise.ok) << promise.text << ": " << promise.value;
}

}  // namespace
}  // namespace vphi
