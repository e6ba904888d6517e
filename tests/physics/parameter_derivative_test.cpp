// A derivative in a function by the function's parameter: of a text that holds the parameter, or of
// another argument that is a function of the variable given for it.
#include <gtest/gtest.h>

#include <string>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

/// The mean of `value` where u is 2 and w is 3; T is 1.5 as a definition of u.
double at_two(const std::string& value) {
  testing::Simulation once;
  once.steps = 1;
  const auto result = testing::run_text(
      R"(model by_parameter "Derivatives by parameters"
lattice line: 4, length = 1
field u, w: real
p = u^3 + w
q = T^4
T = 3*u/4
of(p, x) = d(p, x)
twice(p, x) = d(d(p, x), x)
nested(p, x) = d(of(p, x), x)
sound(p, T) = d(p, T)/(T*d(d(p, T), T))
own(x, c) = d(c*x^2, x)
twice_own(x, c) = d(d(c*x^3, x), x)
inside(x) = d(own(2*x, w), x)
captured(x) = d(own(1, x), x)
global(x) = d(p, x)
u' = 0*u
w' = 0*w
init u = 2, w = 3
evolve euler, dt = 1
precision real = f64
value = mean()" +
          value + ")\nevery 1 steps: value -> \"by_parameter.h5\"\n",
      once);
  return testing::last(result, "value");
}

TEST(ParameterDerivative, OfAnArgumentThatIsAFunctionOfTheVariable) {
  EXPECT_DOUBLE_EQ(at_two("of(p, u)"), 12);
  EXPECT_DOUBLE_EQ(at_two("of(p, w)"), 1);
  EXPECT_DOUBLE_EQ(at_two("of(u^2, w)"), 0);
  EXPECT_DOUBLE_EQ(at_two("twice(p, u)"), 12);
  EXPECT_DOUBLE_EQ(at_two("sound(p, u)"), 0.5);
  EXPECT_DOUBLE_EQ(at_two("global(u)"), 12);
}

TEST(ParameterDerivative, OfATextThatHoldsTheParameter) {
  EXPECT_DOUBLE_EQ(at_two("own(u, w)"), 12);
  EXPECT_DOUBLE_EQ(at_two("own(2*u, u)"), 16);  // c stays where x is not the variable itself
  EXPECT_DOUBLE_EQ(at_two("own(2, 3)"), 12);
  EXPECT_DOUBLE_EQ(at_two("twice_own(u, w)"), 36);
  EXPECT_DOUBLE_EQ(at_two("inside(u)"), 12);   // d(w*4*x)/dx
  EXPECT_DOUBLE_EQ(at_two("captured(u)"), 2);  // d(2*x)/dx: x is not the inner function's
}

TEST(ParameterDerivative, IsRefusedWhereItIsNotClear) {
  for (const char* value :
       {"own(u, u)", "of(p, 2*u)", "of(p, 2)", "of(mean(u^2), u)", "nested(p, u)"}) {
    EXPECT_THROW(at_two(value), std::exception) << value;
  }
}

}  // namespace
}  // namespace vphi
