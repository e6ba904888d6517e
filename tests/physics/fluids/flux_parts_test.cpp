// Derivatives and noise in the fluxes of conservation laws: diffusion, viscosity and conduction of
// heat through faces, and the equilibrium of thermal noise. References: the symbol of the compact
// Laplacian, exact solutions of the Navier-Stokes equations, and sums over the modes of a linear
// step with noise.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <numbers>
#include <string>
#include <utility>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::last;
using testing::run_text;

constexpr double kPi = std::numbers::pi;

bool all_hold(const runtime::RunResult& result) {
  return !result.expectations.empty() &&
         std::ranges::all_of(result.expectations, &runtime::ExpectationResult::ok);
}

// ---- diffusion ----------------------------------------------------------------------------------

/// log(amplitude) of cos(k*x) at the start over that at t = 2, with rates by `scheme`.
double decay_of_wave(const std::string& scheme, const std::string& boundary, int cells, double k,
                     double phase) {
  const std::string wave = fmt::format("cos({}*x + {})", testing::exact(k), testing::exact(phase));
  const auto result = run_text(fmt::format(R"(model spreading "A wave of a diffusing density"
param D = 0.3
lattice line: {}, spacing = 0.5, boundary = {}
primitive n: real
conserve N = n: div(-D*grad(n))
recover {{
  n = N
}}
scheme {}
evolve rk4, dt = 0.01, until = t >= 2
init n = 2 + {}
precision real = f64
at end: t, mean((n - 2)*{})/mean({}^2) -> "spreading.h5"
expect conserved(N) within 1e-12
)",
                                           cells, boundary, scheme, wave, wave, wave),
                               {});
  EXPECT_TRUE(all_hold(result)) << scheme << " " << boundary;
  EXPECT_NEAR(last(result, "t"), 2, 1e-9);
  return -std::log(last(result, fmt::format("mean((n - 2)*{})/mean({}^2)", wave, wave)));
}

double compact(double k) { return 2 * 0.3 * (2 - 2 * std::cos(0.5 * k)) / 0.25; }

TEST(DerivativesInFluxes, EveryWaveDecaysWithTheCompactLaplacian) {
  const std::pair<const char*, const char*> schemes[] = {{"kt, speed = 0", ""},
                                                         {"kt_primitive, speed = 0", ""},
                                                         {"central", ""},
                                                         {"weno5, speed = 0", ""}};
  for (const auto& [scheme, rest] : schemes)
    for (const int n : {1, 3, 12, 16}) {  // 16: the shortest
      const double k = 2 * kPi * n / 16;
      const double phase = n == 16 ? kPi / 2 : 0;
      EXPECT_NEAR(decay_of_wave(scheme, "periodic", 32, k, phase), compact(k), 1e-6)
          << scheme << " " << n;
    }
}

TEST(DerivativesInFluxes, NothingPassesAWall) {
  for (const int n : {1, 2, 9}) {  // cos(k*x) has its extremes at the walls
    const double k = kPi * n / 16, phase = k * 8;
    for (const char* boundary : {"neumann", "outflow"})
      EXPECT_NEAR(decay_of_wave("central", boundary, 32, k, phase), compact(k), 1e-6)
          << boundary << n;
  }
}

TEST(DerivativesInFluxes, WhatPassesAGivenEndIsCounted) {
  const auto result = run_text(R"(model rod "A rod between two temperatures"
lattice rod: 20, length = 2, boundary = outflow
primitive T: real
conserve e = T: div(-(1 + T)*grad(T))
recover {
  T = e
}
beyond low(x): T = 2*3 - T
beyond high(x): T = 2*1 - T
scheme central
evolve heun, dt = 0.2*dx^2/4, until = t > 6
init T = 1
precision real = f64
## of the steady state T + T^2/2 is a line from 7.5 to 1.5
error = max(abs(T + T^2/2 - 4.5 + 3*x))
at end: error -> "rod.h5"
expect conserved(e) within 1e-12
)",
                               {});
  EXPECT_TRUE(all_hold(result));
  // The differences of T + T^2/2 are exact between cells. At the cold wall T is 1 + q*dx/(2*2), q =
  // 3, and (T - 1)^2/2 is missing.
  EXPECT_LT(last(result, "error"), 3e-3);
}

// ---- viscosity and heat -------------------------------------------------------------------------

/// Error of a shear wave in a gas of viscosity 0.02 that runs across the axes.
double shear_error(int cells) {
  const auto result = run_text(fmt::format(R"(model shear "A shear wave"
param mu = 0.02, k = 2*pi
lattice box: {}^2, length = 1, boundary = periodic
primitive rho, p: real, v: vec(2)
h = p/0.4 + rho*norm2(v)/2
dv = [[d(v[0], x), d(v[0], y)], [d(v[1], x), d(v[1], y)]]
s = mu*(dv + adj(dv) - 2/3*(dv[0, 0] + dv[1, 1])*[[1, 0], [0, 1]])
conserve D = rho:   div(rho*v)
conserve M = rho*v: div(M*v) + grad(p) - div(s)
conserve E = h:     div((h + p)*v - s*v)
recover {{
  rho = D
  v   = M/D
  p   = 0.4*(E - norm2(M)/(2*D))
}}
scheme kt, speed = norm(v) + sqrt(1.4*p/rho)
evolve ssp_rk3, dt = 0.1*dx, until = t >= 0.5
wave = 0.001*cos(k*(x + y))
init rho = 1, p = 1, v = [wave, -wave]
precision real = f64
late = exp(-2*k^2*mu*t)
at end: max(abs(v[0] - wave*late))/(0.001*late) -> "shear.h5"
expect conserved(D, M, E) within 1e-12
)",
                                           cells),
                               {});
  EXPECT_TRUE(all_hold(result));
  return last(result, "max(abs(v[0] - wave*late))/(0.001*late)");
}

TEST(DerivativesInFluxes, AShearWaveDecaysWithOrderTwo) {
  const double coarse = shear_error(16), fine = shear_error(32);
  EXPECT_LT(fine, 0.05);
  EXPECT_GT(std::log2(coarse / fine), 1.7) << coarse << ", " << fine;
}

TEST(DerivativesInFluxes, ASphereOfHeatLosesItThroughTheAreasOfItsShells) {
  // sin(k*r)/r decays with k^2 in a ball with an insulated wall where tan(k) = k
  constexpr double k = 4.493409457909064;
  const auto error = [&](int cells) {
    const auto result = run_text(fmt::format(R"(model ball "Heat in a ball"
param k = {}
lattice line: {}, length = 1, boundary = neumann
s = x + 1/2
metric scale(1, s, s)
primitive T: real
conserve e = T: div(-grad(T))
recover {{
  T = e
}}
scheme central
evolve rk4, dt = 0.2*dx^2, until = t >= 0.05
init T = 2 + sin(k*s)/(k*s)
precision real = f64
at end: max(abs(T - 2 - exp(-k^2*t)*sin(k*s)/(k*s))) -> "ball.h5"
expect conserved(e) within 1e-12
)",
                                             testing::exact(k), cells),
                                 {});
    EXPECT_TRUE(all_hold(result));
    return last(result, "max(abs(T - 2 - exp(-k^2*t)*sin(k*s)/(k*s)))");
  };
  const double coarse = error(20), fine = error(40);
  EXPECT_GT(std::log2(coarse / fine), 1.8) << coarse << ", " << fine;
}

// ---- noise --------------------------------------------------------------------------------------

/// A diffusing density with noise in its flux; stationary after a time.
std::string with_noise(const std::string& factor, double T, const std::string& more = "") {
  return fmt::format(R"(model spread "A density with noise"
param D = 0.4, T = {}
sweep path = 1..1000
lattice ring: 16, spacing = 0.5, boundary = periodic
primitive n: real
conserve N = n: div(-D*grad(n) + [{}*noise])
recover {{
  n = N
}}
scheme central
{}
evolve euler_maruyama, dt = 0.02, until = t > 60
init n = 2
precision real = f64
every 50 steps, after = t > 15: mean((n - 2)^2, over = [path, time]), mean((n - 2)*(n@x - 2), over = [path, time]), max(abs(total(n) - 32), over = [path, time]) -> "spread.h5"
)",
                     testing::exact(T), factor, more);
}

/// <n(x) n(x + r)> of the modes of an explicit Euler step; 1/dx is the density of a site.
double stationary(int r, double T) {
  double sum = 0;
  for (int j = 1; j < 16; ++j) {
    const double k = 2 * kPi * j / 16, lambda = 0.4 * (2 - 2 * std::cos(k)) / 0.25;
    sum += std::cos(k * r) * T / (1 - lambda * 0.02 / 2) / (16 * 0.5);
  }
  return sum;
}

void expect_stationary(const runtime::RunResult& result, double T) {
  const char* names[] = {"mean((n - 2)^2, over = [path, time])",
                         "mean((n - 2)*(n@x - 2), over = [path, time])"};
  for (int r = 0; r < 2; ++r)
    EXPECT_NEAR(last(result, names[r]), stationary(r, T), 0.02 * stationary(0, T)) << r;
  EXPECT_LT(last(result, "max(abs(total(n) - 32), over = [path, time])"), 1e-10);
}

TEST(NoiseInLaws, HasTheVarianceOfEquilibriumAtEveryWave) {
  expect_stationary(run_text(with_noise("sqrt(2*D*T)", 0.7), {}), 0.7);
}

TEST(NoiseInLaws, AStrengthOfTheStateIsTakenAtTheFace) {
  // the variance is that of the mean n = 2, whose fluctuations are small
  expect_stationary(run_text(with_noise("sqrt(D*T*n)", 0.007, "noise ito"), {}), 0.007);
}

TEST(NoiseInLaws, ASourceKicksEachCell) {
  const auto result = run_text(R"(model kicked "A density that is kicked"
sweep path = 1..2000
lattice ring: 8, spacing = 0.5, boundary = periodic
primitive n: real
conserve N = n: div(0*[n]) + n - noise
recover {
  n = N
}
scheme central
evolve srk2, dt = 0.05, until = t > 8
init n = 0
precision real = f64
every 20 steps, after = t > 4: mean(n^2, over = [path, time]) -> "kicked.h5"
)",
                               {});
  EXPECT_NEAR(last(result, "mean(n^2, over = [path, time])"), 1 / (2 * 0.5), 0.02);
}

// ---- what is refused ----------------------------------------------------------------------------

std::string first_error(const std::string& flux, const std::string& scheme,
                        const std::string& evolve, const std::string& boundary = "periodic",
                        const std::string& density = "n") {
  const std::string text = fmt::format(R"(model refused "A flux that cannot be taken"
lattice line: 16, length = 16, boundary = {}
primitive n: real
conserve N = {}: {}
recover {{
  n = N
}}
scheme {}
evolve {}, dt = 0.01, until = t > 1
init n = 1
every 10 steps: mean(n) -> "refused.h5"
)",
                                       boundary, density, flux, scheme, evolve);
  try {
    testing::compile_text(text, {});
  } catch (const std::exception& error) {  // error[CODE]: MESSAGE, and more lines
    const std::string message = error.what();
    return message.substr(0, message.find('\n'));
  }
  return {};
}

TEST(DerivativesInFluxes, OthersAreRefused) {
  EXPECT_EQ(first_error("div(-grad(n))", "shasta", "scheme"),
            "error[E0839]: scheme `shasta` takes no derivatives in fluxes");
  EXPECT_EQ(first_error("d(-n@x + n, x)", "central", "rk4"),
            "error[E0839]: the flux of `N` reads neighbours otherwise than by `d`");
  EXPECT_EQ(first_error("d(d(d(n, x), x), x)", "central", "rk4"),
            "error[E0839]: the flux of `N` reads neighbours otherwise than by `d`");
  EXPECT_EQ(first_error("d(lap(n), x)", "central", "rk4"),
            "error[E0839]: the flux of `N` reads neighbours otherwise than by `d`");
  EXPECT_EQ(first_error("d(mean(n)*d(n, x), x)", "central", "rk4"),
            "error[E0839]: the flux of `N` reads neighbours otherwise than by `d`");
  EXPECT_EQ(first_error("d(n + n', x)", "central", "rk4"),
            "error[E0712]: `n` has no time derivative here");
  EXPECT_EQ(first_error("d(n, x)", "central", "srk2", "periodic", "n + noise"),
            "error[E0115]: `noise` has no meaning here");
  EXPECT_EQ(first_error("d(n, x)", "central", "rk4", "periodic", "n + n'"),
            "error[E0712]: `n` has no time derivative here");
  EXPECT_EQ(first_error("d(noise^2, x)", "central", "srk2"),
            "error[E0760]: the equation of `N` is not linear in its noise");
  EXPECT_EQ(
      first_error("d(noise, x)", "central", "srk2", "neumann"),
      "error[E0901]: noise of neighbours in a box that is not periodic is not yet in this version");
  EXPECT_EQ(first_error("d(2*N + noise, x)", "shasta", "scheme"),
            "error[E0901]: noise in laws whose scheme is a step, not a right side such as `kt` is "
            "not yet in "
            "this version");
}

}  // namespace
}  // namespace vphi
