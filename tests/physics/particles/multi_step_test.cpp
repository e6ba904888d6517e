// Many steps in one launch against one step a launch: the same numbers.
//
// The operations of a step and their order do not depend on the number of steps in a launch.
// Whether a product and a sum become one multiply-add depends on the compiler. Code for processors
// has multiply-adds within one expression only, and no expression extends over two steps: there the
// bits are the same (native, PoCL). Compilers for GPUs also join a product with a sum of the next
// step, since no store separates the steps of a launch: there the numbers are the same to rounding.
// Without multiply-adds the bits are the same everywhere.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::compile_text;
using testing::run_text;
using testing::Simulation;

// A driven pendulum with friction and noise; the end is not a multiple of four steps, and the
// averages begin in the middle of a launch.
std::string pendulum(const std::string& evolve, const std::string& every,
                     const std::string& precision = "") {
  return "model pendulum\nparam gamma = 0.3, T = 0.1\nsweep a = [0.5, 1.5]\nsweep path = 1..37\n" +
         precision +
         "var x: real\nx'' = -sin(x) - gamma*x' + a*cos(1.3*t) + sqrt(2*gamma*T)*noise\n"
         "init x = 0.1, x' ~ normal(0, 1)\nevolve " +
         evolve + ", dt = 0.05, until = t > 5.02\nevery " + every +
         " steps, after = t > 1.01: mean(x', over = [path, time]), mean(x^2, over = path) -> "
         "\"p.h5\"\n"
         "at end: mean(x', over = time) -> \"p.h5\"\nplot mean(x'^2) against a\n";
}

// To `rounding` times the largest of a set of numbers; bit for bit where it is 0.
void near(const std::vector<double>& a, const std::vector<double>& b, double rounding) {
  if (rounding == 0) {
    EXPECT_EQ(a, b);
    return;
  }
  ASSERT_EQ(a.size(), b.size());
  double largest = 0;
  for (const double x : b) largest = std::max(largest, std::abs(x));
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], rounding * largest) << i;
}

void same(const runtime::RunResult& a, const runtime::RunResult& b, double rounding = 0) {
  ASSERT_EQ(a.steps, b.steps);
  ASSERT_EQ(a.state.size(), b.state.size());
  for (std::size_t v = 0; v < a.state.size(); ++v) {
    SCOPED_TRACE(v);
    near(a.state[v], b.state[v], rounding);
  }
  for (const char* name : {"mean(x', over = time)", "mean(x^2, over = path)"}) {
    SCOPED_TRACE(name);
    ASSERT_TRUE(a.find(name) && b.find(name));
    near(a.find(name)->values.back(), b.find(name)->values.back(), rounding);
  }
  ASSERT_EQ(a.plots.size(), 1u);
  near(a.plots[0].y, b.plots[0].y, rounding);
}

class MultiStep : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!testing::device(GetParam())) GTEST_SKIP() << "no device";
    setup_.device = GetParam();
    setup_.keep_state = true;
  }
  // What a hundred steps may differ by: where compilers fuse across expressions, some roundings of
  // the precision, ten times as many for what the pendulum does to a difference in that time.
  double rounding(const std::string& precision) const {
    if (!setup_.contract || testing::device(GetParam())->info().is_cpu) return 0;
    return precision.empty() ? 1e-13 : 1e-4;
  }

  Simulation setup_;
};

TEST_P(MultiStep, GivesTheNumbersOfSingleSteps) {
  struct Case {
    const char *evolve, *precision;
    bool contract;
  };
  std::vector<Case> cases;
  for (const char* precision : {"", "precision real = f32\n"}) {
    for (const char* evolve : {"srk2", "baoab", "euler_maruyama", "sra1"})
      cases.push_back({evolve, precision, true});
    cases.push_back({"baoab", precision, false});
  }
  for (const auto& [evolve, precision, contract] : cases) {
    setup_.contract = contract;
    SCOPED_TRACE(std::string(evolve) + " " + precision + (contract ? "" : "no multiply-adds"));
    const auto program = compile_text(pendulum(evolve, "40", precision), setup_).program;
    EXPECT_EQ(program->step.size(), 1u) << "averages are part of the step";
    EXPECT_EQ(program->multi_step.size(), 1u);
    const auto one = run_text(pendulum(evolve, "1", precision), setup_);
    same(run_text(pendulum(evolve, "40", precision), setup_), one, rounding(precision));
    // a launch of several steps that begins amid steps that share their random numbers
    same(run_text(pendulum(evolve, "7", precision), setup_), one, rounding(precision));
  }
}

// Words of xorshift and single bits come from a state that a launch finds again wherever it begins.
TEST(MultiStepFromAState, GivesTheNumbersOfSingleSteps) {
  Simulation setup;
  setup.keep_state = true;
  for (const char* more : {"random xorshift32\n", "noise ito, accuracy = weak1\n"}) {
    SCOPED_TRACE(more);
    const auto one = run_text(pendulum("baoab", "1", more), setup);
    for (const char* every : {"40", "7", "33"})
      same(run_text(pendulum("baoab", every, more), setup), one);
  }
}

// Where an instance ends by itself there is no clock for all; the numbers are those of its own run.
TEST_P(MultiStep, InstancesThatEndByThemselves) {
  const auto text = [](const std::string& every) {
    return "model m\nsweep path = 1..40\nvar x: real\nx' = 0.2 + 0.5*noise\ninit x = 0\n"
           "evolve euler_maruyama, dt = 0.01, until = x > 0.3 or t > 2\nescape = first(t, x > "
           "0.2)\n"
           "every " +
           every + " steps: x, escape -> \"m.h5\"\n";
  };
  // without multiply-adds: a rounding may decide whether an instance ends in this step or the next
  setup_.contract = testing::device(GetParam())->info().is_cpu;
  const auto many = run_text(text("50"), setup_), one = run_text(text("1"), setup_);
  EXPECT_EQ(many.state, one.state);
  const auto &a = many.find("escape")->values.back(), &b = one.find("escape")->values.back();
  for (std::size_t i = 0; i < a.size(); ++i)
    EXPECT_TRUE(a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) << i;
  EXPECT_TRUE(std::ranges::any_of(a, [](double t) { return t > 0; }));
}

INSTANTIATE_TEST_SUITE_P(Devices, MultiStep, ::testing::Values("native", "opencl", "cuda"));

}  // namespace
}  // namespace vphi
