// Fields alone in the coordinates of `metric scale`: standing waves in a ball and a cylinder, a
// field that the stretching of an axis slows down, its energy, and what is refused.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::last;
using testing::run_text;

double error_in_a_ball(int shells) {
  const auto result =
      run_text("model ball \"a standing wave in a ball\"\nlattice line: " + std::to_string(shells) +
                   R"(, length = 1, boundary = neumann
R = x + 1/2
metric scale(1, R, R)
field phi: real
potential V = phi^2/2
q = 4.493409457909064
w = sqrt(q^2 + 1)
init phi = sin(q*R)/R, phi' = 0
evolve leapfrog, dt = 0.4*dx, until = t > 1.999
precision real = f64
every 10 steps: off = mean(abs(phi - sin(q*R)/R*cos(w*t))),
    own = total(phi'^2/2 + norm2(grad(phi))/2 + phi^2/2)/total(1), energies -> "b.h5"
expect drift(own) < 1e-3
)",
               {});
  for (const auto& promise : result.expectations) EXPECT_TRUE(promise.ok) << promise.text;
  const double parts =
      last(result, "kinetic_phi") + last(result, "gradient_phi") + last(result, "potential");
  EXPECT_NEAR(parts / last(result, "own"), 1, 1e-12);
  return last(result, "off");
}

TEST(CoordinatesOfFields, AStandingWaveInABall) {
  const double coarse = error_in_a_ball(40), fine = error_in_a_ball(80);
  EXPECT_NEAR(std::log2(coarse / fine), 2, 0.2) << coarse << " " << fine;
  EXPECT_LT(fine, 5e-3);
}

// J0(j R) cos(pi z) between walls where J1(j) = 0; J0 is the mean of cos(j R sin(s)).
TEST(CoordinatesOfFields, AStandingWaveInACylinder) {
  const auto error = [](int cells) {
    const std::string n = std::to_string(cells);
    return last(run_text("model pipe \"a standing wave in a cylinder\"\nlattice plane: " + n + "*" +
                             n + R"(, length = 1, boundary = neumann
R = x + 1/2
metric scale(1, 1, R)
field phi: real
j = 3.831705970207512
w = sqrt(j^2 + pi^2)
wave = integral(cos(j*R*sin(s)), s = 0..pi, points = 16)/pi*cos(pi*(y + 1/2))
phi'' = lap(phi)
init phi = wave, phi' = 0
evolve rk4, dt = 0.4*dx, until = t > 1.999
precision real = f64
at end: off = mean(abs(phi - wave*cos(w*t))) -> "p.h5"
)",
                         {}),
                "off");
  };
  const double coarse = error(20), fine = error(40);
  EXPECT_NEAR(std::log2(coarse / fine), 2, 0.25) << coarse << " " << fine;
  EXPECT_LT(fine, 1e-2);
}

// phi'' = -phi'/t - phi where the third axis grows as t: J0(t).
TEST(CoordinatesOfFields, AnAxisThatGrowsIsFriction) {
  const auto result = run_text(R"(model stretched "an axis that grows"
lattice line: 8, length = 1, boundary = periodic
metric scale(1, 1, t)
field phi: real
potential V = phi^2/2
init t = 1, phi = 0.7651976865579666, phi' = -0.4400505857449335
evolve rk4, dt = 0.005, until = t > 5 - 0.0025
precision real = f64
at end: t, phi = mean(phi) -> "s.h5"
)",
                               {});
  EXPECT_NEAR(last(result, "phi"), std::cyl_bessel_j(0, last(result, "t")), 1e-10);
}

// Sites dx, 2 dx and 3 dx apart: each axis has the frequency of its own distance.
TEST(CoordinatesOfFields, APlaneWaveWithThreeSpacings) {
  const auto result = run_text(R"(model stretched "three spacings"
lattice box: 16*12*8, spacing = 0.1, boundary = periodic
metric scale(1, 2, 3)
field u: real
k = [2*pi/1.6, 2*pi/1.2, 2*pi/0.8]
own(q, h) = (2*sin(q*dx/2)/(h*dx))^2
w = sqrt(own(k[0], 1) + own(k[1], 2) + own(k[2], 3))
phase = k[0]*x + k[1]*y + k[2]*z
u'' = lap(u)
init u = cos(phase), u' = w*sin(phase)
evolve rk4, dt = 0.005, until = t > 2
precision real = f64
at end: off = max(abs(u - cos(phase - w*t))), box = total(1)*dx^3 -> "d.h5"
)",
                               {});
  EXPECT_LT(last(result, "off"), 1e-7);
  EXPECT_NEAR(last(result, "box"), 1.6 * 2.4 * 2.4, 1e-12);
}

TEST(CoordinatesOfFields, WhatIsNotThereIsRefused) {
  const auto refused = [](const std::string& lines) {
    return testing::refusal_of_text(
        "model m \"not in coordinates\"\nlattice line: 8, length = 1, boundary = periodic\n"
        "metric scale(1, 1, t)\nfield phi: real\n" +
        lines + "\nevolve rk4, dt = 0.01, until = t > 2\nat end: mean(phi) -> \"m.h5\"\n");
  };
  EXPECT_EQ(refused("phi'' = lap(phi)\ninit t = 1, phi = 1, phi' = 0"), "");
  for (const auto& [lines, what] :
       {std::pair{"phi' = lap(phi) + noise\ninit t = 1, phi = 1", "noise of fields"},
        {"phi'' = lap(phi)\ninit t = 1, phi ~ vacuum", "`vacuum`"},
        {"rescale A = 1, B = 1, s = 0\nphi'' = lap(phi)\ninit t = 1, phi = 1", "`rescale`"},
        {"lagrangian L = phi'^2/2 - norm2(grad(phi))/2\ninit t = 1, phi = 1", "a Lagrangian"},
        {"potential V = (phi@x - phi)^2\ninit t = 1, phi = 1", "that reads neighbours"}})
    EXPECT_NE(refused(lines).find(what), std::string::npos) << lines << refused(lines);
}

}  // namespace
}  // namespace vphi
