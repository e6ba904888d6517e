// Conservation laws in coordinates with scale factors: rest, volumes, expansion, rotation, a ball
// of fluid in shells and a strong explosion.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include <fmt/format.h>

#include "tests/physics/fluids/spherical.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::last;
using testing::run_text;

/// An ideal gas, gamma = 1.4, in two dimensions.
std::string gas_in(const std::string& lattice, const std::string& metric, const std::string& scheme,
                   const std::string& start, const std::string& rest) {
  return fmt::format(R"(model gas "a gas in coordinates"
lattice plane: {}
{}
primitive rho, p: real, v: vec(2)
conserve D = rho:                        div(rho*v)
conserve M = rho*v:                      div(M*v) + grad(p)
conserve E = p/0.4 + rho*norm2(v)/2:     div((E + p)*v)
recover {{
  rho = D
  v   = M/D
  p   = 0.4*(E - norm2(M)/(2*D))
}}
c = sqrt(1.4*p/rho)
right[k] = v[k] + c
left[k]  = v[k] - c
speed[k] = abs(v[k]) + c
scheme {}
init {}
precision real = f64
{})",
                     lattice, metric, scheme, start, rest);
}

class AtRest : public ::testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(AtRest, UniformFluidStaysAtRestToRounding) {
  const auto& [lattice, metric] = GetParam();
  for (const char* scheme : {"kt, speed = speed", "kt_primitive, speed = speed",
                             "hlle, fastest = right, slowest = left"}) {
    const auto result =
        run_text(gas_in(lattice, metric, scheme, "rho = 2, p = 3, v = 0",
                        "evolve heun, dt = 0.0005, until = t > 0.2\n"
                        "at end: max(norm(v)), max(abs(rho - 2)), max(abs(p - 3)) -> \"m.h5\"\n"
                        "expect conserved(D, E) within 1e-13\n"),
                 {});
    for (const auto& promise : result.expectations) EXPECT_TRUE(promise.ok) << promise.text;
    EXPECT_LT(last(result, "max(norm(v))"), 3e-14) << metric << scheme;
    EXPECT_LT(last(result, "max(abs(rho - 2))"), 1e-13) << metric << scheme;
    EXPECT_LT(last(result, "max(abs(p - 3))"), 1e-13) << metric << scheme;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Geometries, AtRest,
    ::testing::Values(
        std::pair{"[20, 12], spacing = 0.1, boundary = neumann", "metric scale(1, x + 1, 1)"},
        std::pair{"[20, 12], spacing = 0.1, boundary = neumann", "metric scale(1, 1, x + 1)"},
        std::pair{"[20, 12], spacing = 0.1, boundary = [neumann, outflow]",
                  "metric scale(1, x + 1, (x + 1)*sin(y + 1.2))"},
        std::pair{"[20, 12], spacing = 0.1, boundary = [outflow, periodic]",
                  "metric scale(exp(x), 2 + x^3, cosh(x))"}));

TEST(Coordinates, TotalsAreOverTheVolumeOfCells) {
  const auto result = run_text(
      gas_in("[20, 12], spacing = 0.1, boundary = neumann",
             "metric scale(1, x + 1, (x + 1)*sin(y + pi/2))", "kt, speed = speed",
             "rho = 2, p = 3, v = 0",
             "evolve heun, dt = 0.0005, until = t > 0.001\n"
             "at end: volume_of_all = total(1)*dx^2, mass = total(rho)*dx^2 -> \"m.h5\"\n"),
      {});
  // radii 0 to 2 and polar angles 0.6 to both sides of the equator; the mean of the sine over a
  // cell is Simpson's, whose relative error is dy^4/2880
  const double exact = 8.0 / 3 * 2 * std::sin(0.6);
  EXPECT_NEAR(last(result, "volume_of_all") / exact, 1 + 1e-4 / 2880, 1e-9);
  EXPECT_NEAR(last(result, "mass") / exact, 2 * (1 + 1e-4 / 2880), 1e-9);
}

/// The radial velocity in the middle of a ring that rotates like a solid body, from its exact
/// start.
double ring(int cells) {
  const auto result = run_text(
      gas_in(
          fmt::format("[{}, 8], spacing = {}, boundary = [neumann, periodic]", cells, 1.0 / cells),
          "R = x + 1.5\nmetric scale(1, R, 1)", "kt, speed = speed",
          "rho = 1, v = [0, 0.8*R], p = 1 + 0.32*R^2",
          "evolve heun, dt = 0.1*dx, until = t >= 0.2\n"
          "at end: inner = max(abs(v[0])*(abs(x) < 0.1)) -> \"m.h5\"\n"),
      {});
  return last(result, "inner");
}

// p' = rho*v^2/R: without T_phiphi the flow would leave outwards with 0.2.
TEST(Coordinates, PressureHoldsARotatingRingToOrderTwo) {
  const double coarse = ring(50), fine = ring(100);
  EXPECT_LT(coarse, 5e-4);
  EXPECT_GT(coarse, 0);
  EXPECT_LT(fine, coarse / 3);
}

/// A relativistic gas that depends on nothing, in a box whose sides grow.
std::string expanding(const std::string& factors, const std::string& start) {
  return fmt::format(R"(model growing "a gas in an expanding box"
lattice line: 8, length = 1, boundary = periodic
metric scale({}), energy = E
primitive eps, n: real, v: vec(1)
p(eps) = eps/3
W = 1/sqrt(1 - norm2(v))
conserve N = n*W:                n_flux
conserve M = (eps + p)*W^2*v:    div(M*v) + grad(p)
conserve E = (eps + p)*W^2 - p:  div((E + p)*v)
recover {{
  u   = norm(M)/(E + p)
  eps = E - norm(M)*u
  n   = N*sqrt(1 - u^2)
  v   = M/(E + p)
  solve u by fixed_point, tol = 1e-13, max = 60, start = 0
}}
scheme kt, speed = 1
evolve heun, dt = 0.001, until = t >= 2
init t = 1, n = 1, {}
precision real = f64
at end: t, total(N), mean(n), mean(eps), mean(M[0]), mean(E) -> "m.h5"
expect conserved(N) within 1e-5
)",
                     factors, start);
}

std::string with_flux(std::string text) {
  const std::string name = "n_flux";
  return text.replace(text.find(name), name.size(), "div(N*v)");
}

TEST(Coordinates, RadiationAndDensityInExpandingBoxes) {
  // sides that grow as t^a, t^b, t^c: n falls with the volume, eps with its power 4/3
  for (const auto& [factors, power] :
       {std::pair{"t, t, t", 3.0}, {"1, 1, t", 1.0}, {"t^(-1/3), t^(2/3), t^(2/3)", 1.0}}) {
    const auto result = run_text(with_flux(expanding(factors, "eps = 1, v = 0")), {});
    const double t = last(result, "t"), volume = std::pow(t, power);
    EXPECT_TRUE(result.expectations.at(0).ok) << factors;
    EXPECT_NEAR(last(result, "mean(n)") * volume, 1, 1e-5) << factors;
    EXPECT_NEAR(last(result, "mean(eps)") * std::pow(volume, 4.0 / 3), 1, 1e-5) << factors;
    EXPECT_NEAR(last(result, "mean(M[0])"), 0, 1e-15);
  }
}

// A uniform stream along x: M*h1*h2*h3*h1 is constant, and radiation streams on freely in a box
// that grows alike to all sides, E*a^4 constant too.
TEST(Coordinates, MomentumFallsWithTheLengthOfItsOwnSide) {
  const auto result = run_text(with_flux(expanding("t, t, t", "eps = 1, v = [0.6]")), {});
  const double t = last(result, "t"), w2 = 1 / (1 - 0.36);
  EXPECT_NEAR(last(result, "mean(M[0])") * std::pow(t, 4) / (4.0 / 3 * w2 * 0.6), 1, 2e-5);
  EXPECT_NEAR(last(result, "mean(E)") * std::pow(t, 4) / (4.0 / 3 * w2 - 1.0 / 3), 1, 2e-5);
  const auto along = run_text(with_flux(expanding("1, t, t", "eps = 1, v = [0.6]")), {});
  EXPECT_NEAR(last(along, "mean(M[0])") * t * t / (4.0 / 3 * w2 * 0.6), 1, 2e-5);
}

/// A pulse that moves with velocity 1 in a coordinate that is not a length: mean error.
double stretched(int cells) {
  const auto result = run_text(fmt::format(R"(model line "advection along a stretched line"
lattice line: {}, length = 2, boundary = outflow
s = sinh(x)
metric scale(cosh(x))
primitive a: real
conserve u = a: d(u, x)
recover {{
  a = u
}}
scheme kt, speed = 1
evolve heun, dt = 0.2*dx, until = t >= 0.5
exact = exp(-20*(s + 0.3 - t)^2)
init a = exp(-20*(s + 0.3)^2)
precision real = f64
at end: total(u)*dx, error = mean(abs(u - exact)) -> "m.h5"
expect conserved(u) within 1e-12
)",
                                           cells),
                               {});
  EXPECT_TRUE(result.expectations.at(0).ok);
  EXPECT_NEAR(last(result, "total(u)*dx"), std::sqrt(std::acos(-1.0) / 20), 1e-5);
  return last(result, "error");
}

TEST(Coordinates, StretchedLineIsOfOrderTwo) {
  const double coarse = stretched(100), fine = stretched(200);
  EXPECT_NEAR(std::log2(coarse / fine), 2, 0.3) << coarse << " " << fine;
}

/// A pulse in a stream whose velocity 1 + x/2 is a function of the position: mean error.
double in_a_stream(int cells, const std::string& scheme) {
  const auto result = run_text(fmt::format(R"(model stream "advection by a given velocity"
lattice line: {}, length = 2, boundary = outflow
c = 1 + x/2
start = (1 + x/2)*exp(-t/2)*2 - 2
primitive a: real
conserve u = a: d(c*u, x)
recover {{
  a = u
}}
scheme {}
evolve ssp_rk3, dt = 0.2*dx, until = t >= 0.4
exact = exp(-t/2 - 30*(start + 0.3)^2)
init a = exp(-30*(x + 0.3)^2)
precision real = f64
at end: error = mean(abs(u - exact)) -> "m.h5"
expect conserved(u) within 1e-12
)",
                                           cells, scheme),
                               {});
  EXPECT_TRUE(result.expectations.at(0).ok);
  return last(result, "error");
}

// The flux at a face is made of the fluxes of both cells, each with its own position.
TEST(Coordinates, FluxesThatDependOnPositionsAreOfTheSchemesOrder) {
  for (const auto& [scheme, order] : {std::pair{"kt, speed = 2", 2.0},
                                      {"kt_primitive, speed = 2", 2.0},
                                      {"weno5, speed = c", 3.0}}) {
    const double coarse = in_a_stream(100, scheme), fine = in_a_stream(200, scheme);
    EXPECT_GT(std::log2(coarse / fine), order - 0.3) << scheme << coarse << " " << fine;
  }
}

// Table of a spherical solver with cells of 0.005: e and v of a ball of radius 2, p = e/3.
TEST(Coordinates, BallOfShellsAgainstASphericalSolver) {
  const auto result = run_text(R"(model shells "a ball of fluid in shells"
lattice line: 500, length = 5, boundary = neumann
R = x + 2.5
metric scale(1, R, R)
primitive eps: real, v: vec(1)
p(eps) = eps/3
W = 1/sqrt(1 - norm2(v))
conserve M = (eps + p)*W^2*v:    div(M*v) + grad(p)
conserve E = (eps + p)*W^2 - p:  div((E + p)*v)
recover {
  u   = norm(M)/(E + p) if E > 0 else 0
  eps = E - norm(M)*u
  v   = M/(E + p) if E > 0 else 0
  solve u by fixed_point, tol = 1e-12, max = 40, start = 0
}
limit E = E if E > 1e-13 else 0
limit M = M*min(1, E*(1 - 1e-12)/norm(M)) if norm(M) > 0 else M
cs = 1/sqrt(3)
right[k] = (v[k] + cs)/(1 + v[k]*cs)
left[k]  = (v[k] - cs)/(1 - v[k]*cs)
scheme hlle, fastest = right, slowest = left, theta = 1.5
evolve heun, dt = 0.4*dx, until = t >= 2
init eps = clamp((2 - R)/dx + 1/2, 0, 1), v = 0
precision real = f64
half = max(eps*(abs(R - 0.505) < 0.002))
one  = (max(eps*(abs(R - 0.995) < 0.002)) + max(eps*(abs(R - 1.005) < 0.002)))/2
edge = max(eps*(abs(R - 2.005) < 0.002))
fast = max(v[0]*(abs(R - 2.005) < 0.002))
at end: t, half, one, edge, fast -> "m.h5"
expect conserved(E) within 1e-12
)",
                               {});
  EXPECT_TRUE(result.expectations.at(0).ok);
  testing::Sphere sphere(2, 1, 0.01, 5);
  sphere.advance(2);
  EXPECT_NEAR(last(result, "half"), 1, 1e-3);
  EXPECT_NEAR(last(result, "one"), sphere.density(1), 0.005);
  EXPECT_NEAR(last(result, "one"), 0.65888, 0.01);
  EXPECT_NEAR(last(result, "edge"), 0.08227, 0.0015);
  EXPECT_NEAR(last(result, "fast"), 0.70871, 0.003);
}

// The volume of a cell and the area of its faces grow alike, and cancel in the rate.
TEST(Coordinates, WhatLeavesAGrowingBoxIsCounted) {
  const std::string text = R"(model out "A flow out of a box in proper time"
lattice plane: 24^2, spacing = 0.3, boundary = outflow
metric scale(1, 1, t)
primitive n: real
v = [0.4*x, 0.4*y]
conserve N = n: div(n*v)
recover {
  n = N
}
speed[k] = abs(v[k]) + 0.1
scheme kt, speed = speed, theta = 1.8
evolve heun, dt = 0.1*dx, until = t > 2
init t = 0.6, n = exp(-(x^2 + y^2)/4) + 0.1
precision real = f64
at end: total(N) -> "m.h5"
expect conserved(N) within 1e-12
)";
  const auto result = run_text(text, {});
  ASSERT_FALSE(result.expectations.empty());
  for (const auto& promise : result.expectations) EXPECT_TRUE(promise.ok) << promise.text;
}

}  // namespace
}  // namespace vphi
