// States beyond the ends of the box that a model gives: inflow, held walls, moving mirrors. Against
// exact solutions: waves that come in, supersonic streams, the Riemann problem at a wall, heat
// between two walls, shock waves before a piston.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <tuple>

#include "tests/physics/fluids/riemann.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

double middle_of_cell(std::size_t i, int cells, double length) {
  return (static_cast<double>(i) + 0.5) * length / cells - length / 2;
}

bool keeps_totals(const runtime::RunResult& result) {
  return !result.expectations.empty() &&
         std::ranges::all_of(result.expectations, &runtime::ExpectationResult::ok);
}

// ---- a wave that comes in -----------------------------------------------------------------------

/// A density that a wind carries into a box of length 1, dt = courant*dx^power.
struct WindRow {
  const char* scheme;
  const char* evolve;
  double velocity = 1;
  double power = 1;
};

double wind_wave(double x, double t, double v) {
  return 2 + std::sin(2 * std::numbers::pi * (x - v * t));
}

/// Mean error at t = 1, when all that is in the box has come in.
double wind_error(const WindRow& wind, int cells) {
  const auto text =
      fmt::format(R"(model wind "What the wind brings"
lattice line: {}, length = 1, boundary = outflow
primitive a: real
conserve u = a: d(u*{}, x)
recover {{
  a = u
}}
beyond x: a = 2 + sin(2*pi*(x - {}*t))
scheme {}
evolve {}, dt = 0.4*dx^{}, until = t >= 1
init a = 2 + sin(2*pi*x)
precision real = f64
at end: t, total(u) -> "wind.h5"
)",
                  cells, wind.velocity, wind.velocity, wind.scheme, wind.evolve, wind.power);
  testing::Simulation setup;
  setup.keep_state = true;
  const auto result = testing::run_text(text, setup);
  const double t = testing::last(result, "t");
  double sum = 0;
  for (std::size_t i = 0; i < result.state[0].size(); ++i)
    sum += std::abs(result.state[0][i] - wind_wave(middle_of_cell(i, cells, 1), t, wind.velocity)) /
           cells;
  return sum;
}

TEST(GivenEnds, AWaveComesInWithTheOrderOfTheScheme) {
  const std::pair<WindRow, double> rows[] = {
      {{"kt, speed = 1", "heun"}, 1.8},
      {{"kt_primitive, speed = 1", "heun", -1}, 1.8},
      {{"hlle, fastest = 1, slowest = 1", "ssp_rk3"}, 1.4},
      {{"shasta", "scheme"}, 1.7},
      {{"shasta_explicit", "scheme", -1}, 1.7},
      {{"upwind, speed = 1", "heun"}, 0.8},
      // stages of a Runge-Kutta method beside a wall that knows the time lose an order in dt
      {{"weno5, speed = 1", "ssp_rk3", 1, 1.6666666666666667}, 3.3},
  };
  for (const auto& [wind, order] : rows) {
    const double coarse = wind_error(wind, 40), fine = wind_error(wind, 80);
    EXPECT_GT(std::log2(coarse / fine), order) << wind.scheme << ": " << coarse << ", " << fine;
  }
}

// ---- supersonic streams -------------------------------------------------------------------------

/// A gas of gamma = 1.4 that streams through a box at Mach 2.5, into other gas.
std::string mach_stream(int dims, int cells, const std::string& scheme, const std::string& evolve,
                        const std::string& start, const std::string& until) {
  const char* names[] = {"", "x", "y", "z"};
  const std::string rest = dims == 1 ? "" : dims == 2 ? ", 0.2" : ", 0.2, -0.1";
  std::string ends = fmt::format("beyond low(x): rho = 1.4, p = 1, v = [2.5{}]\n", rest);
  for (int k = 2; k <= dims; ++k)
    ends += fmt::format("beyond {}: rho = 1.4, p = 1, v = [2.5{}]\n", names[k], rest);
  return fmt::format(R"(model stream "A stream at Mach 2.5"
param gamma = 1.4
lattice tube: {}{}, spacing = {}, boundary = outflow
primitive rho, p: real, v: vec({})
c = sqrt(gamma*p/rho)
speed[k] = abs(v[k]) + c
right[k] = v[k] + c
left[k]  = v[k] - c
conserve n = rho:   div(n*v)
conserve M = rho*v: div(M*v) + grad(p)
conserve E = p/(gamma - 1) + rho*norm2(v)/2: div((E + p)*v)
recover {{
  rho = n
  v   = M/n
  p   = (gamma - 1)*(E - norm2(M)/(2*n))
}}
{}scheme {}
evolve {}, dt = 0.06*dx, until = {}
init {}
precision real = f64
at end: total(n), least = min(p), most = max(p), slow = min(v[0]), fast = max(v[0]) -> "s.h5"
expect conserved(n) within 1e-12
expect conserved(E) within 1e-12
)",
                     cells,
                     dims == 1   ? ""
                     : dims == 2 ? "*6"
                                 : "*6*6",
                     1.0 / cells, dims, ends, scheme, evolve, until, start);
}

const std::pair<const char*, const char*> kEveryScheme[] = {
    {"kt, speed = speed", "heun"},
    {"kt_primitive, speed = speed", "ssp_rk3"},
    {"hlle, fastest = right, slowest = left", "heun"},
    {"weno5, speed = speed", "ssp_rk3"},
    {"upwind, speed = speed", "heun"},
    {"shasta", "scheme"},
    {"shasta_explicit", "scheme"},
};

TEST(GivenEnds, ASteadyStreamStaysToRounding) {
  for (const int dims : {1, 2, 3}) {
    const std::string v = dims == 1 ? "[2.5]" : dims == 2 ? "[2.5, 0.2]" : "[2.5, 0.2, -0.1]";
    for (const auto& [scheme, evolve] : kEveryScheme) {
      const bool steps = std::string(scheme) == "shasta";
      if (dims > 1 && !(steps && dims == 2) && scheme != kEveryScheme[0].first) continue;
      const auto result = testing::run_text(
          mach_stream(dims, 12, scheme, evolve, "rho = 1.4, p = 1, v = " + v, "t > 0.1"), {});
      EXPECT_TRUE(keeps_totals(result)) << scheme << dims;
      for (const char* name : {"least", "most"})
        EXPECT_NEAR(testing::last(result, name), 1, 2e-13) << scheme << ", " << dims;
      for (const char* name : {"slow", "fast"})
        EXPECT_NEAR(testing::last(result, name), 2.5, 2e-13) << scheme << ", " << dims;
    }
  }
}

TEST(GivenEnds, AStreamWashesOutWhatWasThere) {
  for (const auto& [scheme, evolve] : kEveryScheme) {
    const auto result = testing::run_text(
        mach_stream(1, 50, scheme, evolve, "rho = 1 + 0.2*sin(7*x), p = 0.8, v = [2]", "t > 4"),
        {});
    EXPECT_TRUE(keeps_totals(result)) << scheme;
    EXPECT_NEAR(testing::last(result, "total(n)"), 50 * 1.4, 1e-9) << scheme;
    EXPECT_NEAR(testing::last(result, "fast"), 2.5, 1e-9) << scheme;
    EXPECT_NEAR(testing::last(result, "least"), 1, 1e-9) << scheme;
  }
}

// What comes in through a wall is the flux there times t: density times velocity.
TEST(GivenEnds, WhatComesInIsTheFluxThroughTheWall) {
  const auto text = R"(model filling "A wind fills a box"
lattice box: 64*8, length = [1, 0.125], boundary = [outflow, periodic]
primitive a: real
conserve u = a: div(u*[0.75, 0.25])
recover {
  a = u
}
beyond low(x): a = 3
scheme SCHEME
evolve EVOLVE, dt = 0.2*dx, until = t > 0.5
init a = 0
precision real = f64
at end: t, inside = total(u)*dx^2 -> "f.h5"
expect conserved(u) within 1e-13
)";
  // the flux of a face has both its sides where slopes or more than one wave are in it
  const std::tuple<const char*, const char*, double> rows[] = {
      {"upwind, speed = 0.75", "heun", 1e-12},
      {"kt, speed = 0.75", "heun", 5e-3},
      {"shasta", "scheme", 5e-4},
  };
  for (const auto& [scheme, evolve, within] : rows) {
    std::string model = text;
    model.replace(model.find("SCHEME"), 6, scheme);
    model.replace(model.find("EVOLVE"), 6, evolve);
    const auto result = testing::run_text(model, {});
    EXPECT_TRUE(keeps_totals(result)) << scheme;
    const double expected = 3 * 0.75 * 0.125 * testing::last(result, "t");
    EXPECT_NEAR(testing::last(result, "inside") / expected, 1, within) << scheme;
  }
}

// ---- the Riemann problem at a wall --------------------------------------------------------------

constexpr double kFlow = 0.8;  ///< faster than sound, so that all waves come in

/// Matter, p = e/3, of e = 1 that streams into a box, in which matter of e = 16 follows from t = 0
/// on: mean error of e at the end. The exact solution is the tube in a frame that moves.
double held_tube(const std::string& scheme, const std::string& evolve, int cells,
                 const std::string& device = "native", double end = 0.8) {
  const auto text = fmt::format(R"(model held "A tube whose end is held"
lattice tube: {}, length = 1, boundary = outflow
primitive eps: real, v: vec(1)
p(eps) = eps/3
cs = 1/sqrt(3)
speed[k] = (abs(v[k]) + cs)/(1 + abs(v[k])*cs)
right[k] = (v[k] + cs)/(1 + v[k]*cs)
left[k]  = (v[k] - cs)/(1 - v[k]*cs)
W = 1/sqrt(1 - norm2(v))
conserve M = (eps + p)*W^2*v:    div(M*v) + grad(p)
conserve E = (eps + p)*W^2 - p:  div((E + p)*v)
recover {{
  u   = norm(M)/(E + p)
  eps = E - norm(M)*u
  v   = M/(E + p)
  solve u by fixed_point, tol = 1e-13, max = 60, start = 0
}}
beyond low(x): eps = 16, v = [0.8]
scheme {}
evolve {}, dt = 0.4*dx, until = t >= {}
init eps = 1, v = [0.8]
precision real = f64
at end: t, total(E) -> "held.h5"
expect conserved(E) within 1e-12
)",
                                cells, scheme, evolve, end);
  testing::Simulation setup;
  setup.device = device;
  setup.keep_state = true;
  const auto result = testing::run_text(text, setup);
  EXPECT_TRUE(keeps_totals(result)) << scheme;
  const testing::ShockTube exact({16, 0, 8}, {1, 0, 1});
  const double t = testing::last(result, "t");
  double sum = 0;
  for (std::size_t i = 0; i < result.state[0].size(); ++i) {
    const double e = testing::recovered(result.state[1][i], result.state[0][i], 0).e;
    const double xi = (middle_of_cell(i, cells, 1) + 0.5) / t;
    sum += std::abs(e - exact.at((xi - kFlow) / (1 - xi * kFlow)).e) / cells;
  }
  return sum;
}

TEST(GivenEnds, AHeldEndIsOneSideOfARiemannProblem) {
  for (const auto& [scheme, evolve] : {std::pair{"kt, speed = speed", "heun"},
                                       {"hlle, fastest = right, slowest = left", "heun"}}) {
    const double coarse = held_tube(scheme, evolve, 100), fine = held_tube(scheme, evolve, 200);
    EXPECT_LT(coarse, 0.4) << scheme;
    EXPECT_GT(std::log2(coarse / fine), 0.75) << scheme << ": " << coarse << ", " << fine;
  }
}

// For 50 steps: behind a steep front shasta makes of a rounding 1e-6 in 140 steps, whether an end
// is given or not.
TEST(GivenEnds, DevicesAgree) {
  if (testing::device("opencl") == nullptr) GTEST_SKIP() << "no OpenCL device";
  for (const auto& [scheme, evolve] :
       {std::pair{"kt, speed = speed", "heun"}, {"shasta", "scheme"}}) {
    const auto error = [&](const char* device) {
      return held_tube(scheme, evolve, 100, device, 0.2);
    };
    EXPECT_NEAR(error("native"), error("opencl"), 1e-11) << scheme;
  }
}

// Gas of density 1 and velocity -w against a mirror: a shock runs back with S, and what stays
// behind it has the density (w + S)/S (Rankine and Hugoniot).
TEST(GivenEnds, AMirrorStopsAStream) {
  const auto text = R"(model piston "Gas before a piston"
param gamma = 5/3, w = 1
lattice tube: 400, length = 1, boundary = neumann
primitive rho, p: real, v: vec(1)
speed[k] = abs(v[k]) + sqrt(gamma*p/rho)
conserve n = rho:   div(n*v)
conserve M = rho*v: div(M*v) + grad(p)
conserve E = p/(gamma - 1) + rho*norm2(v)/2: div((E + p)*v)
recover {
  rho = n
  v   = M/n
  p   = (gamma - 1)*(E - norm2(M)/(2*n))
}
beyond high(x): rho = 1, p = 0.01, v = [-w]
scheme kt, speed = speed, theta = 1
evolve heun, dt = 0.2*dx, until = t >= 1.2
init rho = 1, p = 0.01, v = [-w]
precision real = f64
at end: t, total(n) -> "p.h5"
)";
  testing::Simulation setup;
  setup.keep_state = true;
  const auto result = testing::run_text(text, setup);
  const auto& n = result.state[0];
  const double t = testing::last(result, "t"), sound2 = 5.0 / 3 * 0.01;
  const double shock = (5.0 / 3 - 3) / 4 + std::sqrt(std::pow((5.0 / 3 + 1) / 4, 2) + sound2);
  for (const double place : {0.5, 0.7, 0.9})  // of the way to the shock
    EXPECT_NEAR(n[static_cast<std::size_t>(400 * place * shock * t)] * shock / (1 + shock), 1,
                0.01);
  EXPECT_NEAR(n[static_cast<std::size_t>(400 * 1.1 * shock * t)], 1, 1e-3);
  EXPECT_NEAR(n[399], 1, 1e-9);
  // what has come in is density times velocity times t
  double inside = 0;
  for (const double value : n) inside += value / 400;
  EXPECT_NEAR(inside, 1 + t, 1e-11);
}

// Half of a box behind a mirror is the whole box.
TEST(GivenEnds, AMirrorStandsBesideAGivenEnd) {
  const auto run = [](bool half, const std::string& scheme, const std::string& evolve) {
    const auto text = fmt::format(R"(model halves "Gas that flows in from both sides"
lattice tube: {}, spacing = 0.02, boundary = {}
X = x + {}
primitive rho, p: real, v: vec(1)
speed[k] = abs(v[k]) + sqrt(1.4*p/rho)
conserve n = rho:   div(n*v)
conserve M = rho*v: div(M*v) + grad(p)
conserve E = p/0.4 + rho*norm2(v)/2: div((E + p)*v)
recover {{
  rho = n
  v   = M/n
  p   = 0.4*(E - norm2(M)/(2*n))
}}
beyond {}: rho = 1, p = 1 + t + 0.2*abs(X), v = [-0.5*sign(X)]
scheme {}
evolve {}, dt = 0.1*dx, until = t > 0.4
init rho = 1 + X^2, p = 1, v = 0
precision real = f64
at end: total(n) -> "p.h5"
)",
                                  half ? 40 : 80, half ? "neumann" : "outflow", half ? 0.4 : 0.0,
                                  half ? "high(x)" : "x", scheme, evolve);
    testing::Simulation setup;
    setup.keep_state = true;
    return testing::run_text(text, setup).state;
  };
  for (const auto& [scheme, evolve] :
       {std::pair{"kt, speed = speed", "heun"}, {"shasta", "scheme"}}) {
    const auto half = run(true, scheme, evolve), whole = run(false, scheme, evolve);
    for (std::size_t q = 0; q < 3; ++q)
      for (std::size_t i = 0; i < 40; ++i)
        EXPECT_NEAR(half[q][i], whole[q][i + 40], 1e-12) << scheme << q << ", " << i;
  }
}

// Heat that relaxes between walls of two temperatures: a line in the end, whose flux is that of
// Fourier.
TEST(GivenEnds, WallsHoldATemperature) {
  const auto text = R"(model rod "Heat between two walls"
lattice rod: 32, length = 2, boundary = outflow
primitive T: real, q: vec(1)
conserve e = T: div(q)
relax q = -0.5*[d(T, x)], time = 0.5
recover {
  T = e
}
beyond x: T = 2 - x, q = [0.5]
scheme kt, speed = 1
evolve heun, dt = 0.2*dx, until = t > 60
init T = 1, q = 0
precision real = f64
at end: t, total(e) -> "rod.h5"
)";
  testing::Simulation setup;
  setup.keep_state = true;
  const auto result = testing::run_text(text, setup);
  for (std::size_t i = 0; i < 32; ++i) {
    EXPECT_NEAR(result.state[0][i], 2 - middle_of_cell(i, 32, 2), 1e-10) << i;
    EXPECT_NEAR(result.state[1][i], 0.5, 1e-10) << i;
  }
}

}  // namespace
}  // namespace vphi
