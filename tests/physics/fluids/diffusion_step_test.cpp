// dt against what derivatives in conservation laws damp: rates of the discrete terms, the limits of
// integrators, steps on both sides of them, and steps that follow the rate.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <string>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::last;
using testing::run_text;

constexpr double kD = 0.3, kCell = 0.5;
/// D/dx^2
constexpr double kUnit = kD / (kCell * kCell);

/// A density that diffuses in a box of `dims` dimensions, its shortest wave at the start.
std::string spreading(int dims, const std::string& integrator, double dt,
                      const std::string& law = "div(-D*grad(n))") {
  const char* boxes[] = {"8", "8^2", "8^3"};
  return fmt::format(R"(model spreading "The shortest wave of a diffusing density"
param D = 0.3
lattice box: {}, spacing = 0.5, boundary = periodic
primitive n: real
conserve N = n: {}
recover {{
  n = N
}}
scheme central
evolve {}, dt = {}, until = t > {}
shortest = cos(pi*(x + {})/dx){}
init n = 2 + shortest
precision real = f64
at end: amplitude = mean((n - 2)*shortest), max(diffusion), steps = t/dt -> "spreading.h5"
)",
                     boxes[dims - 1], law, integrator, testing::exact(dt),
                     testing::exact(10.5 * dt), "dx/2",
                     dims == 1   ? ""
                     : dims == 2 ? "*cos(pi*(y + dx/2)/dx)"
                                 : "*cos(pi*(y + dx/2)/dx)*cos(pi*(z + dx/2)/dx)");
}

TEST(DiffusionStep, AStepOfEulerIsThatOfTheExactRate) {
  for (int dims = 1; dims <= 3; ++dims) {
    const double rate = 4 * dims * kUnit;  // dt < dx^2/(2 dims D)
    const auto result = run_text(spreading(dims, "euler", 1.9 / rate), {});
    EXPECT_NEAR(last(result, "max(diffusion)"), rate, 1e-12 * rate);
    const double steps = std::round(last(result, "steps"));
    EXPECT_EQ(steps, 11);
    EXPECT_NEAR(last(result, "amplitude"), std::pow(1 - 1.9, steps), 1e-12);
  }
}

/// A variable that relaxes and spreads, q' = (D*lap(q) - q)/4: its shortest wave after steps of
/// Euler.
std::string relaxing(double dt) {
  return fmt::format(R"(model relaxing "an order parameter that spreads"
param D = 0.3
lattice line: 8, spacing = 0.5, boundary = periodic
primitive n, q: real
conserve N = n: div([0*n])
relax q = D*lap(q), time = 4
recover {{
  n = N
}}
scheme central
evolve euler, dt = {0}, until = t > {1}
shortest = cos(pi*(x + dx/2)/dx)
init n = 2, q = shortest
precision real = f64
at end: amplitude = mean(q*shortest), max(diffusion), steps = t/dt -> "relaxing.h5"
)",
                     testing::exact(dt), testing::exact(10.5 * dt));
}

TEST(DiffusionStep, WhatSpreadsWhileItRelaxesCounts) {
  const double rate = 4 * kUnit / 4;
  const auto result = run_text(relaxing(1.5 / rate), {});
  EXPECT_NEAR(last(result, "max(diffusion)"), rate, 1e-12 * rate);
  EXPECT_NEAR(last(result, "amplitude"), std::pow(1 - 1.5 / rate * (rate + 0.25), 11), 1e-12);
  EXPECT_EQ(testing::refusal_of_text(relaxing(1.9999 / rate)), "");
  EXPECT_NE(testing::refusal_of_text(relaxing(2.0001 / rate)).find("E0301"), std::string::npos);
}

TEST(DiffusionStep, IsRefusedAboveTheLimitOfTheIntegrator) {
  struct Limit {
    const char* integrator;
    double limit;  // of rate*dt where |1 - z + z^2/2 - ...| = 1
  };
  for (const auto& [integrator, limit] :
       {Limit{"euler", 2}, Limit{"heun", 2}, Limit{"ssp_rk3", 2.512745}, Limit{"rk4", 2.785294}}) {
    for (const int dims : {1, 2}) {
      const double rate = 4 * dims * kUnit;
      EXPECT_EQ(testing::refusal_of_text(spreading(dims, integrator, 0.9999 * limit / rate)), "")
          << integrator;
      const std::string said =
          testing::refusal_of_text(spreading(dims, integrator, 1.0001 * limit / rate));
      EXPECT_NE(said.find("E0301"), std::string::npos) << integrator << said;
      EXPECT_NE(said.find("of diffusion in"), std::string::npos) << said;
    }
  }
}

/// The second instance has a diffusion constant for which dt is too long: its wave grows by the
/// factor of the step, and the run says that the rate was above the limit.
TEST(DiffusionStep, IsCheckedInTheRunWhereTheRateIsSwept) {
  const double dt = 1.9 / (4 * kUnit);
  std::string text = spreading(1, "euler", dt);
  text.replace(text.find("param D = 0.3"), 13, "sweep D = [0.3, 0.36]");
  const auto result = run_text(text, {});
  const auto promise = std::ranges::find_if(result.expectations, [](const auto& x) {
    return x.text.find("max(diffusion)*dt < 2, the limit of `euler`") != std::string::npos;
  });
  ASSERT_NE(promise, result.expectations.end());
  EXPECT_FALSE(promise->ok);
}

TEST(DiffusionStep, SourcesWithALaplacianCount) {
  const double rate = 8 * kUnit;
  const std::string law = "div(0*grad(n)) - D*lap(n)";
  EXPECT_EQ(testing::refusal_of_text(spreading(2, "heun", 0.999 * 2 / rate, law)), "");
  EXPECT_NE(testing::refusal_of_text(spreading(2, "heun", 1.001 * 2 / rate, law)).find("E0301"),
            std::string::npos);
  // with the other sign short waves grow
  const std::string grows = "div(0*grad(n)) + D*lap(n)";
  EXPECT_NE(testing::refusal_of_text(spreading(2, "heun", 1 / rate, grows)).find("E0848"),
            std::string::npos);
}

/// A viscous gas with conduction of heat, of density `rho`.
std::string viscous_gas(double rho, double mu, double kappa, const std::string& dt) {
  return fmt::format(R"(model gas "A viscous gas"
param mu = {}, kappa = {}
lattice box: 16^2, length = 1, boundary = periodic
primitive rho, p: real, v: vec(2)
T = p/rho
h = 5/2*p + rho*norm2(v)/2
dv = [[d(v[0], x), d(v[0], y)], [d(v[1], x), d(v[1], y)]]
stress = mu*(dv + adj(dv) - 2/3*(dv[0, 0] + dv[1, 1])*[[1, 0], [0, 1]])
conserve D = rho:       div(rho*v)
conserve M = rho*v:     div(M*v) + grad(p) - div(stress)
conserve E = h - p:     div(h*v - stress*v - kappa*grad(T))
recover {{
  rho = D
  v   = M/D
  p   = 2/3*(E - norm2(M)/(2*D))
}}
speed = norm(v) + sqrt(5/3*p/rho)
scheme kt, speed = speed
evolve ssp_rk3, dt = {}, until = t > 0.01
init rho = {}, p = 1, v = [0.1*sin(2*pi*y), 0]
precision real = f64
every 1 step: dt, rate = max(diffusion), fast = max(speed) -> "gas.h5"
)",
                     testing::exact(mu), testing::exact(kappa), dt, testing::exact(rho));
}

/// At the corner of the zone a velocity is damped with 4 (4/3 + 1) mu/(rho dx^2), and the pressure
/// of a density that is held with 2/3 of 8 kappa/(rho dx^2).
TEST(DiffusionStep, RatesOfViscosityAndHeat) {
  const double cell2 = 1.0 / 256;
  for (const double rho : {1.0, 0.5}) {
    const auto viscous = run_text(viscous_gas(rho, 0.2, 0.01, "1e-4"), {});
    EXPECT_NEAR(last(viscous, "rate") / (28.0 / 3 * 0.2 / rho / cell2), 1, 1e-3) << rho;
    const auto hot = run_text(viscous_gas(rho, 0.01, 0.5, "1e-4"), {});
    EXPECT_NEAR(last(hot, "rate") / (16.0 / 3 * 0.5 / rho / cell2), 1, 1e-3) << rho;
    const double limit = 2.512745 / (28.0 / 3 * 0.2 / rho / cell2);
    EXPECT_EQ(testing::refusal_of_text(viscous_gas(rho, 0.2, 0.01, testing::exact(0.99 * limit))),
              "");
    const std::string said =
        testing::refusal_of_text(viscous_gas(rho, 0.2, 0.01, testing::exact(1.01 * limit)));
    EXPECT_NE(said.find("of diffusion in"), std::string::npos) << said;
  }
}

TEST(DiffusionStep, AStepOfTheStateFollowsTheSlowerOfTwoLimits) {
  const std::string dt = "min(0.2*dx/max(speed), 1.5/max(diffusion))";
  for (const double mu : {0.2, 0.001}) {
    const auto result = run_text(viscous_gas(1, mu, 0.01, dt), {});
    const double by_signals = 0.2 / 16 / last(result, "fast");
    const double by_diffusion = 1.5 / last(result, "rate");
    EXPECT_EQ(by_diffusion<by_signals, mu> 0.1);
    EXPECT_NEAR(last(result, "dt") / std::min(by_signals, by_diffusion), 1, 1e-12) << mu;
    for (const auto& promise : result.expectations) EXPECT_TRUE(promise.ok) << promise.text;
  }
}

/// Heat whose conduction is T: T = 1 - x^2/... is Barenblatt's solution of order 1 in one
/// dimension, (C - x^2/(6 t^(2/3)))/t^(1/3), of which the conduction falls as the steps grow.
TEST(DiffusionStep, StepsGrowAsABarenblattSolutionSpreads) {
  const auto error = [](int cells) {
    const auto result = run_text(fmt::format(R"(model spread "Heat that conducts as T"
lattice rod: {}, length = 8, boundary = periodic
primitive T: real
conserve e = T: div(-T*grad(T))
recover {{
  T = e
}}
scheme central
evolve heun, dt = 1.6/max(diffusion), until = t > 4
exact = max(1 - x^2/(6*t^(2/3)), 0)/t^(1/3)
init t = 1, T = exact
precision real = f64
every 1 step: dt, rate = max(diffusion), off = mean(abs(T - exact)) -> "spread.h5"
expect conserved(e) within 1e-12
)",
                                             cells),
                                 {});
    for (const auto& promise : result.expectations) EXPECT_TRUE(promise.ok) << promise.text;
    const auto& steps = result.find("dt")->points;
    EXPECT_NEAR(steps.back().second / steps.front().second, std::cbrt(4.0), 0.05);
    return last(result, "off");
  };
  const double coarse = error(40), fine = error(80);
  EXPECT_GT(std::log2(coarse / fine), 1.3) << coarse << " " << fine;  // a kink at the front
  EXPECT_LT(fine, 2e-3);
}

/// E at a cell is the mean of four faces, B' a central difference of it: waves of half the shortest
/// length are damped fastest, with up to 1.54 eta/dx^2 in two dimensions.
TEST(DiffusionStep, RatesOfResistance) {
  const auto slab = [](double dt) {
    return fmt::format(R"(model slab "A field that decays"
param eta = 0.05
lattice box: 16*16, spacing = 1/16, boundary = periodic
primitive b: vec(2)
conserve B = b: curl(eta*(d(b[1], x) - d(b[0], y)))
recover {{
  b = B
}}
scheme central
evolve euler, dt = {}, until = t > 100.5*{}
init b = [cos(pi/2*(y/dx + 1/2)), cos(pi/2*(x/dx + 1/2))]
precision real = f64
every 1 step: max(diffusion), mean(norm2(b)) -> "slab.h5"
)",
                       testing::exact(dt), testing::exact(dt));
  };
  const double unit = 0.05 * 256;
  const auto result = run_text(slab(1.9 / (1.54 * unit)), {});
  const double rate = last(result, "max(diffusion)") / unit;
  EXPECT_LE(rate, 1.5397);
  EXPECT_GT(rate, 1.5397 * 0.97);
  EXPECT_LT(last(result, "mean(norm2(b))"), 1e-6);
  EXPECT_NE(testing::refusal_of_text(slab(2.01 / (1.5 * unit))).find("E0301"), std::string::npos);
}

/// In polar coordinates a step of the angle is the shorter the nearer the centre.
TEST(DiffusionStep, RatesInCoordinates) {
  const auto disc = [](double dt) {
    return fmt::format(R"(model polar "Heat in polar coordinates"
param D = 0.3
lattice plane: 16*16, spacing = 0.1, boundary = [neumann, periodic]
R = x + 0.8
metric scale(1, R, 1), energy = none
primitive T: real
conserve e = T: div([-D*d(T, x), -D*d(T, y)/R])
recover {{
  T = e
}}
scheme central
evolve euler, dt = {}, until = t > 1e-4
init T = 1 + cos(2*pi*x)
precision real = f64
at end: most = max(diffusion), least = min(diffusion) -> "polar.h5"
)",
                       testing::exact(dt));
  };
  const auto rate = [](double R) { return 4 * 0.3 / 0.01 * (1 + 1 / (R * R)); };
  const auto result = run_text(disc(1e-5), {});
  EXPECT_NEAR(last(result, "most") / rate(0.05), 1, 1e-12);
  EXPECT_NEAR(last(result, "least") / rate(1.55), 1, 1e-12);
  EXPECT_EQ(testing::refusal_of_text(disc(0.99 * 2 / rate(0.05))), "");
  EXPECT_NE(testing::refusal_of_text(disc(1.01 * 2 / rate(0.05))).find("E0301"), std::string::npos);
}

/// Noise does not move the limit.
TEST(DiffusionStep, OfIntegratorsWithNoise) {
  const auto gas = [](double dt) {
    return fmt::format(R"(model thermal "A density with thermal noise"
param D = 0.3
lattice line: 16, spacing = 0.5, boundary = periodic
primitive n: real
conserve N = n: div(-D*grad(n)) + d(sqrt(2*D*1e-6)*noise, x)
recover {{
  n = N
}}
scheme central
evolve srk2, dt = {}, until = t > 1
init n = 1
precision real = f64
at end: mean(n) -> "thermal.h5"
)",
                       testing::exact(dt));
  };
  EXPECT_EQ(testing::refusal_of_text(gas(1.99 / (4 * kUnit))), "");
  EXPECT_NE(testing::refusal_of_text(gas(2.01 / (4 * kUnit))).find("E0301"), std::string::npos);
}

}  // namespace
}  // namespace vphi
