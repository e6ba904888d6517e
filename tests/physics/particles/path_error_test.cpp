// The error of an average over time along one path, whose values are correlated: against the exact
// one, and against the scatter of many paths.
//
// Ornstein-Uhlenbeck, x' = -x + noise: <x^2> = 1/2 and <x^2(0) x^2(t)> - <x^2>^2 = exp(-2 t)/2, so
// the mean over a time T has the variance (1/T) 2 int_0^inf exp(-2 t)/2 dt = 1/(2 T). Stochastic
// Heun at h = 0.1 has the variance h (1 - h/2)^2/(1 - (1 - h + h^2/2)^2).
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::run_text;
using testing::Simulation;

constexpr double kVariance = 0.1 * 0.95 * 0.95 / (1 - 0.905 * 0.905);

std::string path_of(const std::string& sweep, const std::string& more, double time) {
  return "model path\n" + sweep +
         "var x: real\nx' = -x + noise\ninit x = " + (sweep.empty() ? "0" : "0.001*s") +
         "\nevolve srk2, dt = 0.1, until = t > " + std::to_string(time) + "\n" + more;
}

/// 200 places of an axis that is not an ensemble, each a path of its own: pulls are as of a
/// Gaussian.
TEST(PathError, PullsOfManyPaths) {
  const auto r =
      run_text(path_of("sweep s = linspace(0, 1, 200)\nrandom seed = 3, fresh = [s]\n",
                       "every 20 steps, after = t > 10: x -> \"p.h5\"\n"
                       "at end: M = mean(x^2, over = time) -> \"p.h5\"\nplot x^2 against s\n",
                       510),
               {});
  const auto* found = r.find("M");
  ASSERT_TRUE(found);
  ASSERT_EQ(found->errors.size(), 1U);
  const double exact = std::sqrt(1 / (2 * 500.0));
  double squares = 0, mean_error = 0, known = 0;
  for (std::size_t i = 0; i < 200; ++i) {
    const double error = found->errors[0][i], pull = (found->values[0][i] - kVariance) / error;
    if (!std::isfinite(error)) continue;
    known += 1;
    squares += pull * pull;
    mean_error += error;
    EXPECT_LT(std::abs(pull), 5);
  }
  EXPECT_GE(known, 190);
  squares /= known, mean_error /= known;
  EXPECT_NEAR(mean_error / exact, 1, 0.1);
  EXPECT_NEAR(squares, 1, 0.35) << "chi^2 of 200 pulls: 0.1, and what the errors scatter";
  ASSERT_EQ(r.plots.size(), 1U);
  EXPECT_EQ(r.plots[0].y, found->values[0]);
  ASSERT_EQ(r.plots[0].error.size(), 200U);
  for (std::size_t i = 0; i < 200; ++i)
    EXPECT_EQ(std::isnan(r.plots[0].error[i]) ? 0 : r.plots[0].error[i],
              std::isnan(found->errors[0][i]) ? 0 : found->errors[0][i]);
}

/// One path without a sweep, with nothing written on the way: windows are made for the error alone.
TEST(PathError, OfOnePath) {
  const auto r =
      run_text(path_of("",
                       "at end: M = mean(x^2, over = time), E = error(mean(x^2, over = time)) -> "
                       "\"p.h5\"\n",
                       20000),
               {});
  const auto* found = r.find("M");
  ASSERT_TRUE(found);
  ASSERT_EQ(found->errors.size(), 1U);
  const double error = found->errors[0].at(0);
  EXPECT_NEAR(error / std::sqrt(1 / 40000.0), 1, 0.25) << "256 windows tell it to 10 %";
  EXPECT_NEAR(found->points.back().second, kVariance, 4 * error) << "seed 1";
  EXPECT_EQ(testing::last(r, "E"), error);
  EXPECT_TRUE(r.notes.empty());
}

/// A promise about the wrong value fails: 5 % of the variance are ten errors.
TEST(PathError, AWrongValueIsFound) {
  const auto r =
      run_text(path_of("",
                       "every 100 steps: x -> \"p.h5\"\nexpect x^2 == 0.4987 within 4*sigma\n"
                       "expect x^2 == 0.4737 within 4*sigma\n",
                       20000),
               {});
  ASSERT_EQ(r.expectations.size(), 2U);
  EXPECT_TRUE(r.expectations[0].ok);
  EXPECT_FALSE(r.expectations[1].ok);
}

/// The error of a run of a few correlation times is not known, and no promise holds by it.
TEST(PathError, OfAShortRunIsNotKnown) {
  const auto r =
      run_text(path_of("",
                       "every 1 steps: x -> \"p.h5\"\nat end: mean(x, over = time) -> \"p.h5\"\n"
                       "expect x == 0 within 1000*sigma\n",
                       20),
               {});
  ASSERT_EQ(r.notes.size(), 1U);
  EXPECT_NE(r.notes[0].find("is not known: fewer values than 50"), std::string::npos) << r.notes[0];
  EXPECT_TRUE(std::isnan(r.find("mean(x, over = time)")->errors.at(0).at(0)));
  ASSERT_EQ(r.expectations.size(), 1U);
  EXPECT_FALSE(r.expectations[0].ok);
  EXPECT_NE(r.expectations[0].undecided.find("sigma is not known: fewer values than 50"),
            std::string::npos)
      << r.expectations[0].undecided;
}

/// What does not move has a sigma of 0 in an ensemble: nothing is decided by it.
TEST(PathError, ASigmaOfNothingDecidesNothing) {
  const auto r = run_text(
      "model still\nsweep path = 1..50\nvar x: real\nx' = 0*noise\ninit x = 1\n"
      "evolve srk2, dt = 0.1, until = t > 5\nevery 1 steps: x -> \"m.h5\"\n"
      "expect x == 1 within 4*sigma\nexpect mean(x, over = path) == 2 within 4*sigma\n",
      {});
  ASSERT_EQ(r.expectations.size(), 2U);
  for (const auto& e : r.expectations) {
    EXPECT_FALSE(e.ok) << e.text;
    EXPECT_NE(e.undecided.find("sigma is 0"), std::string::npos) << e.text << e.undecided;
  }
}

/// Over an ensemble and a parameter at once: values of the parameter are chosen, not drawn, so they
/// add nothing to the error, sqrt(e_1^2 + e_2^2)/2.
TEST(PathError, ParametersAreNoScatter) {
  const auto r = run_text(
      "model mixed\nsweep b = [1, 5]\nsweep path = 1..50\nvar x: real\nx' = -x + b*noise\n"
      "init x = 0\nevolve srk2, dt = 0.1, until = t > 5\n"
      "at end: each = mean(x^2, over = path), all = mean(x^2, over = [b, path]) -> \"m.h5\"\n",
      {});
  const auto *each = r.find("each"), *all = r.find("all");
  ASSERT_TRUE(each && all);
  const double expected = std::hypot(each->errors[0].at(0), each->errors[0].at(1)) / 2;
  EXPECT_NEAR(all->errors[0].at(0), expected, 1e-12);
}

}  // namespace
}  // namespace vphi
