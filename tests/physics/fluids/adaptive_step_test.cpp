// Steps that depend on the state: `dt = 0.4*dx/max(speed)`.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include <fmt/format.h>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::last;
using testing::run_text;

/// u' = -u^2 everywhere, from 1: u = 1/(1 + t). The relative error at the end.
double decay(double share, const std::string& integrator) {
  const auto result = run_text(fmt::format(R"(model decay "a source alone"
lattice line: 8, length = 1, boundary = periodic
primitive a: real
conserve u = a: d(0*a, x) + u^2
recover {{
  a = u
}}
scheme kt, speed = 1
evolve {}, dt = {}/max(a), until = t > 20
init a = 1
precision real = f64
at end: t, max(a), dt -> "m.h5"
)",
                                           integrator, share),
                               {});
  const double t = last(result, "t");
  EXPECT_GT(t, 20);
  EXPECT_LT(t, 20 + 1.1 * share * (1 + t));
  EXPECT_NEAR(last(result, "dt") / (share / last(result, "max(a)")), 1, 1e-12);
  return std::fabs(last(result, "max(a)") * (1 + t) - 1);
}

TEST(AdaptiveStep, HasAtLeastTheOrderOfTheIntegrator) {
  for (const auto& [integrator, order] : {std::pair{"heun", 2.0}, {"ssp_rk3", 3.0}}) {
    const double coarse = decay(0.1, integrator), fine = decay(0.05, integrator);
    EXPECT_GT(std::log2(coarse / fine), order - 0.2) << integrator << coarse << " " << fine;
  }
}

// Burgers' equation: a step runs out of the box, and the height falls as 1/t behind the front. What
// leaves is counted with the step of the time.
TEST(AdaptiveStep, CountsWhatLeavesAndKeepsTheCourantNumber) {
  const auto result = run_text(R"(model front "a block that spreads"
lattice line: 100, length = 2, boundary = outflow
primitive a: real
conserve u = a: d(u^2/2, x)
recover {
  a = u
}
speed = abs(a)
scheme kt, speed = speed
evolve heun, dt = 0.3*dx/max(speed), until = t > 8
init a = (2 if abs(x) < 0.3 else 1e-3)
precision real = f64
every 10 steps: total(u), dt, max(courant) -> "m.h5"
expect conserved(u) within 1e-13
)",
                               {});
  for (const auto& promise : result.expectations) EXPECT_TRUE(promise.ok) << promise.text;
  EXPECT_NEAR(last(result, "max(courant)"), 0.3, 1e-12);
  const auto& steps = result.find("dt")->points;
  EXPECT_GT(steps.back().second, 4 * steps.front().second);
}

}  // namespace
}  // namespace vphi
