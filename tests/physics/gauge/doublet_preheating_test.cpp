// The shipped model lphi4_su2u1 on small lattices: its promises, the order of its constraint, and
// the model of U(1) alone that it becomes where SU(2) does not couple.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "tests/physics/gauge/changed_text.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::cut;
using testing::largest;
using testing::last;
using testing::put;
using testing::Simulation;

std::string shipped_text() { return testing::text_of_shipped("cosmology/lphi4_su2u1"); }

TEST(DoubletPreheating, KeepsItsPromises) {
  Simulation setup;
  setup.lattice = "8^3";
  setup.until = "a > 3";
  const auto result = testing::run_file(testing::shipped("cosmology/lphi4_su2u1"), setup);
  EXPECT_EQ(result.expectations.size(), 2u);
  for (const auto& promise : result.expectations)
    EXPECT_TRUE(promise.ok) << promise.text << ": " << promise.value;
  EXPECT_GT(last(result, "total(H_su2)"), 0);
  EXPECT_GT(last(result, "total(H_u1)"), 0);
}

TEST(DoubletPreheating, TheConstraintDriftsByTheOrder) {
  const auto off = [](const char* dt, const char* integrator) {
    std::string text = shipped_text();
    put(text, "evolve leapfrog, dt = 0.01/omega, until = a > 10",
        std::string("evolve ") + integrator + ", dt = " + dt + "/omega, until = a > 1.3");
    text += "every 1 step: off = mean(rho)/(3*frw.H^2) - 1 -> \"o.h5\"\n";
    Simulation setup;
    setup.lattice = "8^3";
    return largest(testing::run_text(text, setup), "off");
  };
  EXPECT_NEAR(std::log2(off("0.005", "leapfrog") / off("0.0025", "leapfrog")), 2, 0.1);
}

// g^2 is 1e-8 of e^2, so that links of SU(2) stay 1 to this order (8e-7 of the gradients; a smaller
// g costs digits of traces over g^2):
// a doublet is then two complex fields with the charge of U(1). Waves of the doublet, a charged
// field with an electric field that is solved for, magnetic fields of U(1).
TEST(DoubletPreheating, WithoutSU2ItIsTheModelOfU1) {
  const std::string waves = R"(X = 2*pi*index(x)/8
Y = 2*pi*index(y)/8
f = [1 + 0.1*sin(X), 0.2i + 0.1*cos(Y)]
init phi = phi0*f, q = dphi0*f
init chi = 1e-2*phi0*(1 + 0.2*cos(X)), k = 1e-2i*dphi0*sin(X)*(1 + 0.2*cos(X))
init s = 1e-3*phi0*cos(X + Y), p = 0
)";
  std::string both = shipped_text();
  put(both, "g = 2.22075e-5", "g = 1e-9");
  cut(both, "one = ", "init chi");
  put(both, "init U = 1, E = 0, W = 1, B = 0, gauss = 0",
      waves + "init U = 1, E = 0, W[i] = exp(0.3i*sin(Y)*(i == 0)), B = 0, gauss = 0");
  std::string one = both;
  cut(one, "gauge U: SU(2)", "gauge U");
  cut(one, "P[i,j] = ", "P[i,j]");
  cut(one, "H_su2 = ", "H_su2");
  put(one, " + H_su2", "");
  put(one, " total(H_su2),", "");
  put(one, "init U = 1, E = 0, W[i]", "init W[i]");
  put(one, "W[i]*U[i]*phi@i", "W[i]*phi@i");
  put(one, "loop(W, i,", "loop(i,");
  const std::string more =
      "every 10 steps: max(norm2(phi)), mean(norm2(chi)), var(s), mean(sum(norm2(D[i]), i)) -> "
      "\"m.h5\"\n";
  Simulation setup;
  setup.lattice = "8^3";
  setup.steps = 100;
  const auto with = testing::run_text(both + more, setup);
  const auto without = testing::run_text(one + more, setup);
  for (const char* name : {"a", "mean(norm2(phi))", "total(H_u1)", "max(norm2(phi))",
                           "mean(norm2(chi))", "var(s)", "mean(sum(norm2(D[i]), i))"}) {
    const auto *a = with.find(name), *b = without.find(name);
    ASSERT_TRUE(a && b) << name;
    ASSERT_GE(b->points.size(), 10u);
    for (std::size_t i = 0; i < b->points.size(); ++i)
      EXPECT_NEAR(a->points[i].second / b->points[i].second, 1, 2e-6) << name << " " << i;
  }
  EXPECT_GT(last(without, "total(H_u1)"), 0);
}

}  // namespace
}  // namespace vphi
