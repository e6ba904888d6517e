// W0316: where a step of an integrator grows and its equations do not, against the known limits.
#include <gtest/gtest.h>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

bool warned(const std::string& equations, const std::string& start, const std::string& integrator,
            double dt) {
  const auto c =
      testing::compile_text("model m\nvar x: real, y: real\n" + equations + "\ninit " + start +
                                "\nevolve " + integrator + ", dt = " + testing::exact(dt) +
                                ", until = t > 1\n" + "every 1 steps: x, y -> \"m.h5\"\n",
                            {});
  for (const auto& d : c.diagnostics.all())
    if (d.code == "W0316") return true;
  return false;
}

TEST(Growth, AtTheLimitsOfDecays) {
  const std::string two = "x' = -10*x + y\ny' = -y";
  for (const auto& [name, limit] : {std::pair{"euler", 2.0}, {"heun", 2.0}, {"rk4", 2.7853}}) {
    SCOPED_TRACE(name);
    // the factor of a step grows by 5 % within 3 % of the limit
    EXPECT_FALSE(warned(two, "x = 1, y = 1", name, 0.99 * limit / 10));
    EXPECT_TRUE(warned(two, "x = 1, y = 1", name, 1.06 * limit / 10));
  }
}

TEST(Growth, AtTheLimitOfOscillations) {
  const std::string two = "x'' = -100*x + y\ny'' = -y + x";
  const std::string start = "x = 1, x' = 0, y = 0, y' = 0";
  EXPECT_FALSE(warned(two, start, "leapfrog", 0.199));
  EXPECT_TRUE(warned(two, start, "leapfrog", 0.205));
}

// What the equations themselves let grow is no fault of the step: an inverted pendulum.
TEST(Growth, InstabilitiesOfTheEquationsAreTheirOwn) {
  EXPECT_FALSE(warned("x' = 3*x\ny' = -y", "x = 1, y = 1", "rk4", 0.5));
  EXPECT_FALSE(warned("x'' = sin(x)\ny'' = -y", "x = 0, x' = 0.1, y = 1, y' = 0", "leapfrog", 0.3));
  EXPECT_TRUE(warned("x' = 3*x\ny' = -40*y", "x = 1, y = 1", "rk4", 0.2));
}

}  // namespace
}  // namespace vphi
