// Absolute negative mobility of the shipped model at the published parameters, in small.
//
// Reference (docs/formulas.md 5.5): an independent program, 8192 paths, 2000 periods after 100:
// <v> = -0.01541(13) with stochastic Heun at 100 steps a period, -0.01471(13) with BAOAB; Euler and
// Maruyama at the same step has the wrong sign, +0.02710(8). Errors go as 1/sqrt(paths*periods).
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

constexpr int kPaths = 1024, kPeriods = 300;

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  if (at == std::string::npos) throw std::runtime_error("the model has no `" + from + "`");
  return text.replace(at, from.size(), to);
}

struct Drift {
  double value = 0, error = 0;
};

Drift drift(const std::string& integrator) {
  std::ostringstream file;
  file << std::ifstream(testing::shipped("noise/josephson")).rdbuf();
  std::string text = replaced(file.str(), "1..5243", "1.." + std::to_string(kPaths));
  text = replaced(text, "linspace(0, 4.2, 100)", "[4.2]");
  text = replaced(text, "2000*period", std::to_string(100 + kPeriods) + "*period");
  // one row, at the end: the mean of every step after the transient
  text = replaced(text, "every 100 steps", "every 1000000 steps");
  text = replaced(text, "evolve srk2", "evolve " + integrator);
  const auto result = testing::run_text(text, {});
  const auto* series = result.find("mean(x', over = [path, time])");
  if (!series || series->errors.empty()) throw std::runtime_error("no mean velocity");
  return {series->points.back().second, series->errors.back().at(0)};
}

/// Of the reference at its size, scaled to this one.
double sigma(double reference) {
  return reference * std::sqrt(8192.0 * 2000 / (static_cast<double>(kPaths) * kPeriods));
}

TEST(Josephson, DriftOfTheShippedModel) {
  const Drift heun = drift("srk2"), baoab = drift("baoab");
  EXPECT_NEAR(heun.value, -0.01541, 4 * sigma(0.00013));
  EXPECT_NEAR(baoab.value, -0.01471, 4 * sigma(0.00013));
  // the standard error over paths is that of the reference
  EXPECT_NEAR(heun.error / sigma(0.00013), 1, 0.25);
}

/// The test above can fail: the bias of Euler and Maruyama at this step is found at once.
TEST(Josephson, BiasOfEulerAndMaruyamaIsFound) {
  const Drift euler = drift("euler_maruyama");
  EXPECT_NEAR(euler.value, 0.02710, 4 * sigma(0.00008));
  EXPECT_GT(euler.value + 0.01541, 20 * sigma(0.00013));
}

}  // namespace
}  // namespace vphi
