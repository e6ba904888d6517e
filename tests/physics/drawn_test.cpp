// Numbers drawn once: of sites, of bodies; one body by its number and extremes over all.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::last;
using testing::run_text;

testing::Simulation at_start() {
  testing::Simulation setup;
  setup.steps = 0;
  return setup;
}

// u' = h - u with quenched h: u = (1 - (1 - dt)^n) h at each site.
TEST(Drawn, DisorderOfSitesStaysAsItIs) {
  const auto result = run_text(R"(model disorder
lattice plane: 32^2, spacing = 1
field u: real
h ~ 2 + normal
u' = h - u
init u = 0
evolve euler, dt = 0.1, until = t > 0.95
every 10 steps: mean(h), var(h), max(abs(u - (1 - 0.9^10)*h)), far = mean((h - 2)*(h@x - 2)) -> "d.h5"
)",
                               {});
  EXPECT_NEAR(last(result, "mean(h)"), 2, 0.13);
  EXPECT_NEAR(last(result, "var(h)"), 1, 0.18);
  EXPECT_NEAR(last(result, "far"), 0, 0.13);
  EXPECT_LT(last(result, "max(abs(u - (1 - 0.9^10)*h))"), 1e-13);
}

TEST(Drawn, OneBodyAndTheFarthest) {
  const auto result = run_text(R"(model bodies
particles body: 9
var x[k]: vec(3), v[k]: real
x[k]' = [0, 0, 1]
v[k]' = 1
init x[k] = [k, 2*k, -k^2], v[k] = 10*k
evolve euler, dt = 0.5, until = t > 0.4
every 1 step: top = max(abs(x[k][2]), k), low = min(v[k], k), v[4], where = x[3][1] + x[8][2] -> "b.h5"
)",
                               {});
  EXPECT_EQ(last(result, "top"), 63.5);
  EXPECT_EQ(last(result, "low"), 0.5);
  EXPECT_EQ(last(result, "v[4]"), 40.5);
  EXPECT_EQ(last(result, "where"), 6 - 63.5);
}

// Each component of a complex vector has numbers of its own, and both parts theirs.
TEST(Drawn, ComponentsOfAComplexVector) {
  const auto result = run_text(R"(model components
lattice box: 32^2, length = 32
field w: vec(2, complex)
potential V = norm2(w)/2
init w ~ normal + 1i*normal, w' = 0
evolve leapfrog, dt = 0.01, until = t > 0.015
every 1 step: total = mean(norm2(w)), cross = abs(mean(conj(w[0])*w[1])), parts = mean(re(w[0])*im(w[0])) -> "d.h5"
)",
                               at_start());
  EXPECT_NEAR(last(result, "total"), 4, 0.4);  // 4096 numbers of width 1, 4.5 deviations
  EXPECT_NEAR(last(result, "cross"), 0, 0.25);
  EXPECT_NEAR(last(result, "parts"), 0, 0.15);
}

}  // namespace
}  // namespace vphi
