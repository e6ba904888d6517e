// Functions at a site on this machine's processor as models run them, with vector libraries,
// against the C library in long double.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

struct Function {
  const char* name;
  long double (*exact)(long double);
  double largest;
  double ulps;  ///< largest error; of vector libraries up to 4 in exp, sin and cos themselves
};

class Functions : public ::testing::TestWithParam<Function> {};

TEST_P(Functions, AreExactToAFewUnits) {
  const Function& f = GetParam();
  testing::Simulation setup;
  setup.steps = 1;
  setup.keep_state = true;
  // one step of Euler's method from v = 0 with dt = 1: v is the function's value
  const auto result = testing::run_text(
      "model functions\nlattice line: 20000, length = 2\nprecision real = f64\n"
      "field u: real, v: real\nu' = 0*v\nv' = " +
          std::string(f.name) + "(u)\ninit u = " + testing::exact(f.largest) +
          "*sin(7*index(x))*sin(index(x)/3e4)^2, v = 0\nevolve euler, dt = 1\n"
          "every 1 steps: mean(v) -> \"f.h5\"\n",
      setup);
  double worst = 0, greatest = 0;
  for (std::size_t i = 0; i < result.state[0].size(); ++i) {
    const double x = result.state[0][i];
    const long double exact = f.exact(x);
    const int exponent = exact == 0 ? 0 : std::ilogb(exact);
    const double off =
        static_cast<double>(std::abs(result.state[1][i] - exact) / std::ldexp(1.0L, exponent - 52));
    worst = std::max(worst, off);
    greatest = std::max(greatest, std::abs(x));
    ASSERT_LT(off, f.ulps) << x;
  }
  EXPECT_GT(greatest, 0.3 * f.largest);
  RecordProperty("ulps", std::to_string(worst));
  std::printf("%s: %.2f units in the last place\n", f.name, worst);
}

INSTANTIATE_TEST_SUITE_P(
    Native, Functions,
    ::testing::Values(Function{"tanh", std::tanh, 4, 4}, Function{"sinh", std::sinh, 40, 5},
                      Function{"cosh", std::cosh, 40, 5}, Function{"tan", std::tan, 40, 5},
                      Function{"atan", std::atan, 40, 4}, Function{"exp", std::exp, 40, 4},
                      Function{"sin", std::sin, 40, 4}, Function{"cos", std::cos, 40, 4}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace vphi
