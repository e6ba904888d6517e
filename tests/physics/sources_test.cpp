// Forces from potentials, Hamiltonians and actions that hold gradients, averages and angles:
// energies are conserved to the integrator's order, and values agree with exact ones.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::last;
using testing::run_text;

/// Relative change of the energy in the second half of a run of leapfrog with this dt.
double drift(const std::string& model, double dt) {
  const std::string text = model + "\nevolve leapfrog, dt = " + testing::exact(dt) +
                           ", until = t > 2\n" + "every " + std::to_string(std::lround(2 / dt)) +
                           " steps: change = energy/first(energy, t >= 0) - 1 -> \"e.h5\"\n";
  return std::fabs(last(run_text(text, {}), "change"));
}

/// Of order 2: a missing term of the force leaves a change that no smaller step makes smaller.
void expect_second_order(const std::string& model) {
  const double coarse = drift(model, 0.02), fine = drift(model, 0.01);
  EXPECT_LT(fine, 1e-3) << model;
  EXPECT_NEAR(std::log2(coarse / fine), 2, 0.35) << model << coarse << " " << fine;
}

const char* const kFields = R"(
field phi, chi: real
init phi = 0.4*sin(x) + 0.2*cos(2*y + 1), phi' = 0.1*cos(x + y)
init chi = 0.3*cos(x - y) + 0.1, chi' = 0
energy = total((phi'^2 + chi'^2 + norm2(grad(phi)) + norm2(grad(chi)))/2 + V)
)";

TEST(Sources, GradientsInAPotentialGiveTheirForce) {
  const std::string box = "model m \"gradients\"\nlattice box: 8^2, length = 2*pi, boundary = ";
  for (const char* wall : {"periodic", "antiperiodic", "fixed(0)"}) {
    for (const char* v : {"phi^2/2 + chi^2/2 + norm2(grad(phi))*chi^2",
                          "phi^4 + 2*norm2(grad(phi)) + norm2(grad(chi))",
                          "norm2(grad(phi))^2 + chi^2*norm2(grad(chi))@x"}) {
      expect_second_order(box + wall + "\npotential V = " + v + kFields);
    }
  }
  expect_second_order(
      "model m \"27 points\"\nlattice box: 6^3, length = 2*pi, boundary = periodic\n"
      "laplacian = iso27\npotential V = exp(chi)*norm2(grad(phi))" +
      std::string(kFields));
}

TEST(Sources, TotalsCountStencilsBehindWalls) {
  for (const char* wall : {"fixed(0)", "neumann", "periodic"}) {
    expect_second_order(std::string("model m \"higher derivatives\"\n") +
                        "lattice line: 12, length = 6, boundary = " + wall + R"(
field u: real
potential V = lap(u)^2/10 + u^2*lap(u)/5
energy = total((u'^2 + norm2(grad(u)))/2 + V)
init u = 0.3*cos(x), u' = 0.1
)");
  }
}

TEST(Sources, AveragesInAPotentialGiveTheChainRule) {
  const std::string box =
      "model m \"averages\"\nlattice box: 8^2, length = 2*pi, boundary = periodic\n";
  for (const char* v : {"phi^2/2 + 3*mean(phi^2)*chi^2/2", "chi^2/2 + var(chi)*mean(phi)^2 + phi^4",
                        "phi^2*total(norm2(grad(chi)))/10", "sqrt(1 + mean(phi*chi)^2)*phi^2"}) {
    expect_second_order(box + "potential V = " + v + kFields);
  }
}

TEST(Sources, ProductsOfTotalsAndSiteCoefficientsInAHamiltonian) {
  const std::string model = R"(model m "a written Hamiltonian"
lattice box: 8^2, length = 2*pi, boundary = periodic
field phi, p, chi, q: real
H = total(p^2/2 + q^2/2 + (1 + chi^2)*norm2(grad(phi))/2 + norm2(grad(chi))/2) + total(phi^2)*total(chi^2)/64 + sqrt(1 + total(phi^4)^2)
init phi = 0.4*sin(x) + 0.2*cos(2*y + 1), p = 0.1*cos(x + y)
init chi = 0.3*cos(x - y) + 0.1, q = 0
energy = H
)";
  expect_second_order(model);
}

TEST(Sources, DerivativesOfMeansInAnEquation) {
  // u' = -d(mean(u^2), u) = -2 u/N
  const auto result = run_text(R"(model m "a mean by a field"
lattice line: 4, spacing = 1, boundary = periodic
field u: real
u' = -d(mean(u^2), u)
init u = 1
evolve rk4, dt = 0.01, until = t >= 1
at end: v = mean(u) -> "m.h5"
)",
                               {});
  EXPECT_NEAR(last(result, "v"), std::exp(-0.5), 1e-9);
}

TEST(Sources, AnAngleWindsWithoutACut) {
  for (const char* equation :
       {"th'' = lap(th)", "th'' = div(grad(th))", "potential V = 0.2*norm2(grad(th))",
        "th'' = (wrap(th@x - th, 2*pi) - wrap(th - th@-x, 2*pi))/dx^2"}) {
    const auto motion = [&](const std::string& type, const std::string& winding,
                            const std::string& written) {
      const auto result = run_text(
          "model m \"a phase on a ring\"\n"
          "lattice ring: 64, length = 2*pi, boundary = periodic\n"
          "field th: " +
              type + "\n" + written + "\n" + "init th = " + winding + "0.1*sin(x), th' = 0\n" +
              "evolve leapfrog, dt = 0.02, until = t >= 1.5\n"
              "at end: v = mean(th'^2) -> \"m.h5\"\n",
          {});
      return last(result, "v");
    };
    const std::string plain =
        std::string(equation).starts_with("th'' = (wrap") ? "th'' = lap(th)" : equation;
    EXPECT_NEAR(motion("angle", "2*x + 3 + ", equation), motion("real", "", plain), 1e-12)
        << equation;
  }
}

TEST(Sources, AnAngleWindsInThreeDimensionsWithTwentySevenPoints) {
  const auto run = [&](const std::string& type, const std::string& winding) {
    const auto result = run_text(R"(model m "a phase in a box"
lattice box: 8^3, length = 2*pi, boundary = periodic
laplacian = iso27
field th: )" + type + R"(
potential V = 0.2*norm2(grad(th))
init th = )" + winding + R"(0.1*sin(x + y), th' = 0
evolve leapfrog, dt = 0.05, until = t >= 1
at end: v = mean(th'^2), g = mean(norm2(grad(th))) -> "m.h5"
)",
                                 {});
    return std::pair(last(result, "v"), last(result, "g"));
  };
  const auto angle = run("angle", "x - z + 1 + "), real = run("real", "");
  EXPECT_NEAR(angle.first, real.first, 1e-12);
  EXPECT_NEAR(angle.second, real.second + 2, 1e-6);  // |grad(x - z)|^2
}

TEST(Sources, AnAngleStoredInOtherUnitsKeepsItsPeriod) {
  const auto v = [](const std::string& rescale) {
    return last(
        run_text("model m \"a pendulum\"\nlattice line: 4, spacing = 1, boundary = periodic\n"
                 "field th: angle\npotential V = 1 - cos(th)\n" +
                     rescale +
                     "init th = 1, th' = 3\nevolve leapfrog, dt = 0.01, until = t >= 5\n"
                     "at end: v = mean(sin(th)) -> \"m.h5\"\n",
                 {}),
        "v");
  };
  EXPECT_NEAR(v(""), v("rescale A = 0.3, B = 1\n"), 1e-11);
}

// <u dS/du> = 1 for every site, whatever the action (Schwinger, Dyson).
TEST(Sources, ActionsWithStencilsOfStencilsAndSiteCoefficients) {
  const auto result = run_text(R"(model m "higher derivatives"
lattice box: 8^2, length = 8, boundary = periodic
field u, v: real
action S = u^2/2 + v^2/2 + 0.1*lap(u)^2 + v^2*norm2(grad(u)) + lap(u^2)^2/50
sample hmc, trajectories = 3000, tau = 1 {
  level S: steps = 10, scheme = omelyan2
}
init u ~ normal, v ~ normal
one = mean(v^2 + 2*v^2*norm2(grad(u)))
every 1 trajectory, after = trajectory > 100: one, deltaH, accept -> "h.h5"
at end: w = mean(one, over = time), de = mean(deltaH, over = time), a = mean(accept, over = time) -> "h.h5"
)",
                               {});
  EXPECT_NEAR(last(result, "w"), 1, 0.03);
  EXPECT_LT(std::fabs(last(result, "de")), 0.05);  // a force that is not S's leaves it large
  EXPECT_GT(last(result, "a"), 0.9);
}

TEST(Sources, NearestImagesAndChargesBeforeACrossProduct) {
  const auto images = run_text(R"(model m "nearest images"
param N = 32, L = 5
particles body: N
var x[k]: vec(2), p[k]: vec(2)
H = sum(norm2(p[k])/2, k) + sum(exp(-4*(wrap(x[k][0] - x[l][0], L)^2 + (x[k][1] - x[l][1] - L*floor((x[k][1] - x[l][1])/L + 1/2))^2)), k < l)/N
init x ~ uniform(0, 5), p ~ 0.5*normal
evolve yoshida4, dt = 0.01, until = t > 2
every 100 steps: change = H/first(H, t >= 0) - 1 -> "m.h5"
)",
                               {});
  EXPECT_LT(std::fabs(last(images, "change")), 1e-7);
  const auto field = [](const std::string& force) {
    return last(
        run_text("model m \"charges in a field\"\nparticles ion: 8\nvar x[k]: vec(3)\n"
                 "q[k] = 1 if k < 4 else -1\nx[k]'' = -x[k] + " +
                     force +
                     "\ninit x ~ ball(1), x' ~ normal\nevolve boris, dt = 0.01, until = t > 3\n"
                     "at end: v = sum(x[k][0]*x[k]'[1], k) -> \"m.h5\"\n",
                 {}),
        "v");
  };
  EXPECT_NEAR(field("q[k]*cross(x[k]', [0.1, 0, 1])"), field("cross(x[k]', q[k]*[0.1, 0, 1])"),
              1e-12);
}

}  // namespace
}  // namespace vphi
