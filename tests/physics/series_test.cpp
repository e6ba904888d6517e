// `method = separable(tolerance)`: sums over pairs as Fourier series against the sum over all pairs
// (docs/formulas.md 6.4), on the self-gravitating ring and on unrelated functions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::last;
using testing::run_text;
using testing::Simulation;

std::string ring(const std::string& eps, const std::string& method, int n = 300) {
  return "model ring\nparam N = " + std::to_string(n) + ", eps = " + eps +
         "\nparticles body: N, method = " + method +
         "\nvar theta[k]: angle, p[k]: real\n"
         "H = sum(p[k]^2/2, k) - 1/(2*sqrt(2)*N)*sum(1/sqrt(1 - cos(theta[k] - theta[l]) + eps), "
         "k, l)\n"
         "init theta[k] = 2*pi*k/N - 0.9*sin(2*pi*k/N) - 0.3*cos(6*pi*k/N), p = 0\n"
         "evolve leapfrog, dt = 0.01, until = t > 0.095\nevery 1 steps: H, mean(p) -> \"r.h5\"\n";
}

/// Largest difference of the momenta after some steps, over their largest value.
double difference(const std::string& a, const std::string& b, const std::string& device,
                  double energy = 1e-11) {
  Simulation setup;
  setup.keep_state = true;
  const auto direct = run_text(a, setup);
  setup.device = device;
  const auto series = run_text(b, setup);
  double worst = 0, largest = 0;
  for (std::size_t i = 0; i < direct.state[1].size(); ++i) {
    worst = std::max(worst, std::abs(direct.state[1][i] - series.state[1][i]));
    largest = std::max(largest, std::abs(direct.state[1][i]));
  }
  EXPECT_GT(largest, 1e-4) << "nothing moves";
  EXPECT_NEAR(last(series, "H") / last(direct, "H"), 1, energy);
  return worst / largest;
}

/// Number of modes that the compiler says it took.
int modes(const std::string& text) {
  const auto compiled = testing::compile_text(text, {});
  for (const std::string& remark : compiled.system->remarks) {
    const auto at = remark.find("a Fourier series of ");
    if (at != std::string::npos) return std::stoi(remark.substr(at + 20));
  }
  return 0;
}

struct Case {
  const char* eps;
  const char* tolerance;
  int modes;  ///< docs/formulas.md 6.4, for an error of this size
};

class RingSeries : public ::testing::TestWithParam<Case> {};

TEST_P(RingSeries, IsTheSumOverPairs) {
  const Case c = GetParam();
  const std::string series = ring(c.eps, std::string("separable(") + c.tolerance + ")");
  const int found_modes = modes(series);
  EXPECT_NEAR(found_modes, c.modes, 0.15 * c.modes + 2);
  const double found = difference(ring(c.eps, "pairs"), series, "native");
  char text[32];
  std::snprintf(text, sizeof text, "%.1e with %d modes", found, found_modes);
  RecordProperty("difference", text);
  EXPECT_LT(found, 40 * std::stod(c.tolerance));
}

INSTANTIATE_TEST_SUITE_P(Specs, RingSeries,
                         ::testing::Values(Case{"10", "4e-14", 11}, Case{"1", "9e-14", 27},
                                           Case{"0.1", "9e-13", 69}, Case{"0.01", "4e-12", 202}));

TEST(Series, ACoarserToleranceTakesFewerModes) {
  const std::string coarse = ring("0.1", "separable(1e-6)");
  EXPECT_LT(modes(coarse), 45);
  const double error = difference(ring("0.1", "pairs"), coarse, "native", 1e-7);
  EXPECT_LT(error, 1e-5);
  EXPECT_GT(error, 1e-10) << "the sum was not cut";
}

TEST(Series, OnOpenCl) {
  if (!testing::device("opencl")) GTEST_SKIP() << "no OpenCL";
  EXPECT_LT(difference(ring("10", "pairs"), ring("10", "separable(1e-12)"), "opencl"), 1e-11);
}

/// Weights of the bodies, a phase, and no body with itself: nothing of a ring.
TEST(Series, WeightsAndPhases) {
  const auto text = [](const std::string& method) {
    return "model weights\nparticles osc: 200, method = " + method +
           "\nvar x[i]: angle, v[i]: real\nq[i] = 1 + i/100\n"
           "x[i]' = v[i]\n"
           "v[i]' = q[i]*sum(q[j]*exp(cos(x[j] - x[i] - 0.4)), j != i)/200\n"
           "init x[i] = 0.031*i, v = 0\n"
           "evolve heun, dt = 0.01, until = t > 0.055\n"
           "every 1 steps: mean(v), H = mean(v^2) -> \"w.h5\"\n";
  };
  EXPECT_LT(difference(text("pairs"), text("separable(1e-12)"), "native"), 1e-11);
  EXPECT_GT(modes(text("separable(1e-12)")), 8);
}

/// Instances of a sweep have sums of their own.
TEST(Series, InASweep) {
  std::string text = ring("1", "separable(1e-6)", 100);
  text += "sweep v = [0.1, 0.2]\n";
  text.replace(text.find("p = 0\n"), 5, "p = v");
  const auto both = run_text(text, {});
  Simulation one;
  one.set = {{"v", "0.2"}};
  const auto second = run_text(text, one);
  const auto* p = both.find("mean(p)");
  ASSERT_TRUE(p);
  EXPECT_NEAR(p->values.back().at(1), last(second, "mean(p)"), 1e-13);
  EXPECT_NEAR(p->values.back().at(0), 0.1, 1e-12);
}

}  // namespace
}  // namespace vphi
