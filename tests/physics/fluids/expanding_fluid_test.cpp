// Conservation laws in an expanding box: exact solutions for prescribed a(t), boxes that their
// matter expands, and a scalar that decays into radiation against ordinary equations.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::last;
using testing::refusal_of_text;
using testing::run_text;

/// A fluid of radiation, p = eps/3, along a line; `field` adds to its laws.
std::string radiation_in_box(const std::string& box, const std::string& extra,
                             const std::string& to_energy, const std::string& to_momentum,
                             const std::string& rest) {
  return "model radiation \"a fluid of radiation in an expanding box\"\nunits reduced_planck\n" +
         box + "\nprimitive eps: real, v: vec(1)\nW2 = 1/(1 - norm2(v))\n" + extra +
         "conserve E = 4/3*eps*W2 - eps/3: div(M)" + to_energy +
         "\nconserve M = 4/3*eps*W2*v:       div(M*v) + grad(eps/3)" + to_momentum + R"(
recover {
  eps = sqrt(4*E^2 - 3*norm2(M)) - E
  v   = M/(E + eps/3)
}
c = 1/sqrt(3)
bound[k] = (abs(v[k]) + c)/(1 + abs(v[k])*c)
precision real = f64
)" + rest;
}

// n*W ~ a^-3 and v*W ~ 1/a, whatever a(t) is.
double streaming_dust(const std::string& scheme, const std::string& evolve, int steps) {
  const auto result = run_text(
      "model dust \"cold matter that streams\"\nlattice line: 8, spacing = 0.5, boundary = "
      "periodic\n"
      R"(metric frw(a = t^(2/3)), energy = E
primitive n: real, v: vec(1)
W = 1/sqrt(1 - norm2(v))
conserve E = n*W^2:   div(M)
conserve M = n*W^2*v: div(M*v) + grad(0*n)
recover {
  n = E*(1 - norm2(M)/E^2)
  v = M/E
}
precision real = f64
scheme )" +
          scheme + "\nevolve " + evolve + ", dt = 1/" + std::to_string(steps) +
          ", until = step == " + std::to_string(2 * steps) +
          "\ninit t = 1, n = 0.64, v = [0.6]\n"
          "at end: u = mean(v[0]*W), N = mean(n*W), E = mean(E), scale = a -> \"d.h5\"\n",
      {});
  const double a = std::cbrt(9.0), number = 0.8 / 9, momentum = 0.75 / a;
  EXPECT_NEAR(last(result, "scale"), a, 1e-12);
  return std::max({std::fabs(last(result, "u") / momentum - 1),
                   std::fabs(last(result, "N") / number - 1),
                   std::fabs(last(result, "E") / (number * std::hypot(1, momentum)) - 1)});
}

TEST(ExpandingFluid, ColdMatterDilutesAndSlowsDown) {
  const auto order = [](const std::string& scheme, const std::string& evolve) {
    return std::log2(streaming_dust(scheme, evolve, 40) / streaming_dust(scheme, evolve, 80));
  };
  EXPECT_LT(streaming_dust("kt, speed = norm(v)", "rk4", 80), 1e-7);
  EXPECT_NEAR(order("kt, speed = norm(v)", "rk4"), 4, 0.2);
  EXPECT_NEAR(order("kt, speed = norm(v)", "heun"), 2, 0.1);
  EXPECT_NEAR(order("shasta", "scheme"), 2, 0.2);  // a step
}

// A gas that moves as a whole along x: rho ~ a^-3, v ~ 1/a, p ~ a^(-3 gamma), in a plane whose
// third axis grows as well.
TEST(ExpandingFluid, AGasCoolsAsItsVolumeGrows) {
  const auto result = run_text(
      R"(model gas "an ideal gas in a box of given growth"
lattice plane: 6*4, spacing = 0.5, boundary = periodic
metric frw(b = exp(t/2)), energy = E
primitive rho, p: real, v: vec(2)
conserve D = rho:                        div(rho*v)
conserve M = rho*v:                      div(outer(M, v)) + grad(p)
conserve E = p/0.4 + rho*norm2(v)/2:     div((E + p)*v)
recover {
  rho = D
  v   = M/D
  p   = 0.4*(E - norm2(M)/(2*D))
}
scheme kt, speed = norm(v) + sqrt(1.4*p/rho)
evolve rk4, dt = 0.01, until = step == 200
init rho = 2, p = 3, v = [0.3, -0.1]
precision real = f64
at end: rho_end = mean(rho), x_end = mean(v[0]), y_end = mean(v[1]), p_end = mean(p) -> "g.h5"
expect conserved(D) within 1e-8
)",
      {});
  for (const auto& promise : result.expectations) EXPECT_TRUE(promise.ok) << promise.text;
  const double a = std::exp(1.0);
  EXPECT_NEAR(last(result, "rho_end") * std::pow(a, 3), 2, 1e-8);
  EXPECT_NEAR(last(result, "x_end") * a, 0.3, 1e-8);
  EXPECT_NEAR(last(result, "y_end") * a, -0.1, 1e-8);
  EXPECT_NEAR(last(result, "p_end") * std::pow(a, 3 * 1.4), 3, 1e-7);
}

/// Distance of the first wave's amplitude and phase from a sound wave of flat space in conformal
/// time, 2 (sqrt(1 + t) - 1) for a = sqrt(1 + t): eps a^4 = 1 + A cos(k x - k eta/sqrt(3)), v =
/// sqrt(3)/4 A cos(...). Terms of A^2 are 1e-6 of it.
double error_of_sound(int cells) {
  const auto result = run_text(
      radiation_in_box(
          "lattice line: " + std::to_string(cells) +
              ", length = 2*pi, boundary = periodic\nmetric frw(a = sqrt(1 + t)), energy = E",
          "eta = 2*(sqrt(1 + t) - 1)\n", "", "",
          "scheme kt_primitive, speed = bound\nevolve rk4, dt = 0.1*dx, until = t >= 8\n"
          "init eps = 1 + 1e-6*cos(x), v = [sqrt(3)/4*1e-6*cos(x)]\n"
          "at end: c = 2e6*mean((eps*a^4 - 1)*cos(x - eta/sqrt(3))),\n"
          "        s = 2e6*mean((eps*a^4 - 1)*sin(x - eta/sqrt(3))) -> \"s.h5\"\n"),
      {});
  return std::hypot(last(result, "c") - 1, last(result, "s"));
}

TEST(ExpandingFluid, SoundOfRadiationIsThatOfFlatSpaceInConformalTime) {
  const double coarse = error_of_sound(32), fine = error_of_sound(64);
  EXPECT_LT(fine, 0.05);
  EXPECT_GT(std::log2(coarse / fine), 1.8);
}

struct OfRadiation {
  double scale, friedmann, wave;
};

/// A stream with waves of any size: the stress has no trace, so that a^2 = 1 + 2 H0 t. A field
/// without mass and with little energy has a*phi = cos(k eta), k that of the lattice.
OfRadiation filled_with_radiation(int steps, const std::string& device) {
  testing::Simulation setup;
  setup.device = device;
  const auto result = run_text(
      radiation_in_box(
          "lattice line: 32, length = 2*pi, boundary = periodic\nmetric frw(a), energy = E\n"
          "field phi: real",
          "phi'' = lap(phi)/a^2 - 3*H*phi'\n", "", "",
          "scheme kt, speed = bound\nevolve rk4, dt = 2/" + std::to_string(steps) +
              ", until = step == " + std::to_string(steps) +
              "\ninit eps = 3*(1 + 0.3*sin(x)), v = [0.2], phi = 1e-8*cos(x), phi' = -H*phi\n"
              "at end: scale = a, rate = H, of_x = 2e8*mean(a*phi*cos(x)) -> \"r.h5\"\n"),
      setup);
  // mean of 4/3*eps*W^2 - eps/3
  const double rho = 3 * (4 / (3 * 0.96) - 1.0 / 3), h0 = std::sqrt(rho / 3);
  const double a = std::sqrt(1 + 2 * h0 * 2), eta = (a - 1) / h0, dx = 2 * M_PI / 32;
  return {last(result, "scale") / a - 1, last(result, "rate") * a * a / h0 - 1,
          last(result, "of_x") - std::cos(2 / dx * std::sin(dx / 2) * eta)};
}

TEST(ExpandingFluid, RadiationExpandsItsBoxHoweverItMoves) {
  const auto coarse = filled_with_radiation(100, "native"),
             fine = filled_with_radiation(200, "native");
  EXPECT_LT(std::fabs(fine.scale), 3e-8);
  EXPECT_LT(std::fabs(fine.friedmann), 3e-8);
  EXPECT_LT(std::fabs(fine.wave), 1e-7);
  EXPECT_NEAR(std::log2(coarse.scale / fine.scale), 4, 0.2);
  EXPECT_NEAR(std::log2(coarse.wave / fine.wave), 4, 0.3);
}

TEST(ExpandingFluid, OpenclExpandsAsNative) {
  if (!testing::device("opencl")) GTEST_SKIP() << "no OpenCL device";
  const auto result = filled_with_radiation(200, "opencl");
  EXPECT_LT(std::fabs(result.scale), 3e-8);
  EXPECT_LT(std::fabs(result.wave), 1e-7);
}

/// phi, phi', eps and a of phi'' = -3 H phi' - phi - phi^3 - eta*phi', eps' = -4 H eps +
/// eta*phi'^2, 3 H^2 = phi'^2/2 + phi^2/2 + phi^4/4 + eps, by the classical method of order 4.
std::array<double, 4> decaying(long double t) {
  using State = std::array<long double, 4>;
  const long double eta = 0.3L;
  const auto rate = [&](const State& y) {
    const long double phi2 = y[0] * y[0];
    const long double h = std::sqrt((y[1] * y[1] / 2 + phi2 / 2 + phi2 * phi2 / 4 + y[2]) / 3);
    return State{y[1], -(3 * h + eta) * y[1] - y[0] - y[0] * phi2,
                 -4 * h * y[2] + eta * y[1] * y[1], h * y[3]};
  };
  const auto moved = [](const State& y, const State& k, long double h) {
    State z = y;
    for (std::size_t i = 0; i < z.size(); ++i) z[i] += h * k[i];
    return z;
  };
  State y{1, 0, 0.5L, 1};
  constexpr int kSteps = 40000;
  const long double h = t / kSteps;
  for (int i = 0; i < kSteps; ++i) {
    const State a = rate(y), b = rate(moved(y, a, h / 2)), c = rate(moved(y, b, h / 2)),
                d = rate(moved(y, c, h));
    for (std::size_t k = 0; k < y.size(); ++k) y[k] += h / 6 * (a[k] + 2 * b[k] + 2 * c[k] + d[k]);
  }
  std::array<double, 4> result{};
  std::ranges::transform(y, result.begin(), [](long double x) { return static_cast<double>(x); });
  return result;
}

runtime::RunResult decayed(const std::string& integrator, const std::string& dt,
                           const std::string& until) {
  return run_text(
      radiation_in_box(
          "lattice line: 8, length = 32, boundary = periodic\nmetric frw(a), energy = E\n"
          "field phi: real",
          "friction = 3/10*sqrt(W2)*(phi' + v[0]*d(phi, x)/a)\npotential V = phi^2/2 + phi^4/4\n"
          "phi'' = derived - friction\n",
          " - friction*phi'", " + [friction*d(phi, x)/a]",
          "scheme kt, speed = bound\nevolve " + integrator + ", dt = " + dt + ", until = " + until +
              "\ninit phi = 1, phi' = 0, eps = 0.5, v = 0\n"
              "every 1 step: time = t, f = mean(phi), g = mean(phi'), e = mean(eps), scale = a,\n"
              "  residual = mean(rho)/(3*H^2) - 1 -> \"d.h5\"\n"),
      {});
}

double error_of_decay(const runtime::RunResult& result) {
  const auto right = decaying(last(result, "time"));
  double error = 0;
  constexpr std::array kNames{"f", "g", "e", "scale"};
  for (std::size_t i = 0; i < kNames.size(); ++i)
    error = std::max(error, std::fabs(last(result, kNames[i]) - right[i]));
  return error;
}

TEST(ExpandingFluid, AScalarThatDecaysIntoRadiationAsTheOrdinaryEquationsSay) {
  const auto at = [](const std::string& integrator, int steps) {
    return error_of_decay(
        decayed(integrator, "4/" + std::to_string(steps), "step == " + std::to_string(steps)));
  };
  EXPECT_LT(at("rk4", 1600), 1e-10);
  EXPECT_NEAR(std::log2(at("rk4", 200) / at("rk4", 400)), 4, 0.2);
  EXPECT_NEAR(std::log2(at("ssp_rk3", 200) / at("ssp_rk3", 400)), 3, 0.2);
  EXPECT_NEAR(std::log2(at("heun", 200) / at("heun", 400)), 2, 0.1);
}

// Steps that follow the state: their length is in every rate, those of a and of its slope as well.
TEST(ExpandingFluid, AStepThatFollowsTheExpansionIsThatOfTheOrdinaryEquations) {
  const auto coarse = decayed("rk4", "0.005*a*dx/max((norm(v) + c)/(1 + norm(v)*c))", "t > 4"),
             fine = decayed("rk4", "0.0025*a*dx/max((norm(v) + c)/(1 + norm(v)*c))", "t > 4");
  EXPECT_LT(error_of_decay(fine), 1e-7);
  EXPECT_NEAR(std::log2(error_of_decay(coarse) / error_of_decay(fine)), 4, 0.4);
}

TEST(ExpandingFluid, WithoutAnEnergyTheLawsDoNotExpandTheBox) {
  std::string text = radiation_in_box(
      "lattice line: 8, length = 4, boundary = periodic\nmetric frw(a), rho_m = 3, energy = none",
      "", "", "",
      "scheme kt, speed = bound\nevolve rk4, dt = 0.01, until = step == 200\n"
      "init eps = 5, v = 0\nat end: scale = a, e = mean(eps) -> \"n.h5\"\n");
  const auto result = run_text(text, {});
  // H0 = 1; nothing takes the work of the pressure, so that E is diluted alone
  const double a = std::cbrt(16.0);
  EXPECT_NEAR(last(result, "scale"), a, 1e-8);
  EXPECT_NEAR(last(result, "e") * 16, 5, 1e-7);
}

std::string refused_box(const std::string& metric, const std::string& extra,
                        const std::string& rest) {
  return refusal_of_text(
      radiation_in_box("lattice line: 8, length = 4, boundary = periodic\nmetric " + metric, extra,
                       "", "", "init eps = 1, v = 0\n" + rest));
}

TEST(ExpandingFluid, WhatCannotCloseTheMetricIsRefused) {
  const std::string kt = "scheme kt, speed = bound\nevolve rk4, dt = 0.01, until = t > 1\n";
  EXPECT_EQ(refused_box("frw(a), energy = E", "", kt), "");
  EXPECT_NE(refused_box("frw(a)", "", kt).find("which law is that of the energy?"),
            std::string::npos);
  EXPECT_NE(refused_box("frw(a = 1 + t)", "", kt).find("which law is that of the energy?"),
            std::string::npos);
  EXPECT_NE(refused_box("frw(a), energy = E", "",
                        "scheme shasta\nevolve scheme, dt = 0.01, until = t > 1\n")
                .find("a scheme that is a step beside a metric that follows the averages"),
            std::string::npos);
}

}  // namespace
}  // namespace vphi
