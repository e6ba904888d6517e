// Fields with equations of their own beside conservation laws: against ordinary differential
// equations, solutions with sources made for them, and self-similar flows that were integrated
// elsewhere.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::last;
using testing::run_file;
using testing::run_text;
using testing::shipped;
using testing::Simulation;

const std::string kFluid = R"(primitive eps: real, v: vec(1)
W = 1/sqrt(1 - norm2(v))
w = 4/3*eps
recover {
  q   = E - U
  u   = norm(M)/(q + eps/3)
  eps = q - norm(M)*u
  v   = M/(q + eps/3)
  solve u by fixed_point, tol = 1e-12, max = 40, start = 0
}
c = 1/sqrt(3)
bound[k] = (abs(v[k]) + c)/(1 + abs(v[k])*c)
precision real = f64
)";

/// phi'' = -phi - phi^3 - eta*phi', eps' = eta*phi'^2, by steps of 1e-4 of the classical method of
/// order 4.
std::array<double, 3> homogeneous(long double t) {
  using State = std::array<long double, 3>;
  const long double eta = 0.3L;
  const auto rate = [&](const State& y) {
    return State{y[1], -y[0] - y[0] * y[0] * y[0] - eta * y[1], eta * y[1] * y[1]};
  };
  const auto moved = [](const State& y, const State& k, long double h) {
    return State{y[0] + h * k[0], y[1] + h * k[1], y[2] + h * k[2]};
  };
  State y{1, 0, 1};
  const int steps = static_cast<int>(std::lround(t * 10000));
  const long double h = t / steps;
  for (int i = 0; i < steps; ++i) {
    const State a = rate(y), b = rate(moved(y, a, h / 2)), c = rate(moved(y, b, h / 2)),
                d = rate(moved(y, c, h));
    for (std::size_t k = 0; k < 3; ++k) y[k] += h / 6 * (a[k] + 2 * b[k] + 2 * c[k] + d[k]);
  }
  return {static_cast<double>(y[0]), static_cast<double>(y[1]), static_cast<double>(y[2])};
}

runtime::RunResult rolling(const std::string& integrator, int steps) {
  return run_text(
      "model rolling \"a field that heats a gas\"\n"
      "lattice line: 8, length = 32, boundary = periodic\n"
      "field phi: real\nU = 0\n" +
          kFluid + R"(
friction = 3/10*W*(phi' + v[0]*d(phi, x))
potential V = phi^2/2 + phi^4/4
phi'' = derived - friction
conserve E = w*W^2 - eps/3:  div(M) - friction*phi'
conserve M = w*W^2*v:        div(M*v) + grad(eps/3) + [friction*d(phi, x)]
scheme kt, speed = bound
init phi = 1, phi' = 0, eps = 1, v = 0
evolve )" +
          integrator + ", dt = 4/" + std::to_string(steps) +
          ", until = step == " + std::to_string(steps) + R"(
every )" + std::to_string(steps) +
          " steps: f = mean(phi), g = mean(phi'), e = mean(eps) -> \"r.h5\"\n",
      {});
}

TEST(FieldBesideLaws, AHomogeneousFieldHeatsTheGasAsTheOrdinaryEquationsSay) {
  const auto exact = homogeneous(4);
  const auto error = [&](const std::string& integrator, int steps) {
    const auto result = rolling(integrator, steps);
    return std::max({std::fabs(last(result, "f") - exact[0]),
                     std::fabs(last(result, "g") - exact[1]),
                     std::fabs(last(result, "e") - exact[2])});
  };
  EXPECT_NEAR(std::log2(error("heun", 400) / error("heun", 800)), 2, 0.05);
  EXPECT_NEAR(std::log2(error("ssp_rk3", 400) / error("ssp_rk3", 800)), 3, 0.05);
  EXPECT_LT(error("rk4", 2000), 1e-11);
}

/// Changes of the energy and the momentum of a pulse and a gas that it moves.
std::array<double, 2> drifts(int cells, const std::string& dt) {
  const auto result = run_text(
      "model pulse \"a pulse that moves a gas\"\n"
      "lattice line: " +
          std::to_string(cells) +
          ", length = 20, boundary = periodic\n"
          "field phi: real\nU = 0\n" +
          kFluid + R"(
friction = W/4*(phi' + v[0]*d(phi, x))
potential V = phi^2/2 + phi^4/4
phi'' = derived - friction
conserve E = w*W^2 - eps/3:  div(M) - friction*phi'
conserve M = w*W^2*v:        div(M*v) + grad(eps/3) + [friction*d(phi, x)]
scheme kt_primitive, speed = bound
evolve rk4, dt = )" +
          dt + R"(*dx, until = t > 5
init phi = exp(-(x + 2)^2) + exp(-2*(x - 1)^2)/2, phi' = 2*(x + 2)*exp(-(x + 2)^2), eps = 1, v = 0
energy = dx*total(E + phi'^2/2 + norm2(grad(phi))/2 + phi^2/2 + phi^4/4)
pushed = dx*total(M[0] - phi'*d(phi, x))
every 50 steps: a = energy/first(energy, t >= 0) - 1, b = pushed - first(pushed, t >= 0) -> "p.h5"
)",
      {});
  return {std::fabs(last(result, "a")), std::fabs(last(result, "b"))};
}

TEST(FieldBesideLaws, EnergyIsExchangedExactlyAndMomentumToOrderTwo) {
  const auto coarse = drifts(100, "0.05"), half = drifts(100, "0.025"), fine = drifts(200, "0.05");
  EXPECT_LT(coarse[0], 1e-9);
  EXPECT_GT(std::log2(coarse[0] / half[0]), 3.3);  // of the integrator's order 4
  EXPECT_NEAR(std::log2(coarse[1] / fine[1]), 2, 0.2);
}

/// Sources that make these waves of the phase k x - t solutions, for a pressure that depends on the
/// field: derivatives along x are -k times those by t.
double error_of_waves(const std::string& scheme, int cells) {
  const auto result = run_text(
      "model waves \"sources made for a solution\"\n"
      "lattice line: " +
          std::to_string(cells) +
          ", length = 2*pi, boundary = periodic\n"
          "field phi: real\nU = phi^2/4\n" +
          kFluid + R"(
friction = 3/10*W*(phi' + v[0]*d(phi, x))
q_x = 1
phi_x = 0.4*sin(q_x*x - t)
eps_x = 1 + 0.2*cos(q_x*x - t)
v_x = 0.3 + 0.1*sin(q_x*x - t)
W_x = 1/sqrt(1 - v_x^2)
w_x = 4/3*eps_x
p_x = eps_x/3 - phi_x^2/4
M_x = w_x*W_x^2*v_x
E_x = w_x*W_x^2 - p_x
friction_x = 3/10*W_x*(1 - q_x*v_x)*d(phi_x, t)
phi'' = lap(phi) - phi/2 - friction + (1 - q_x^2)*d(d(phi_x, t), t) + phi_x/2 + friction_x
conserve E = w*W^2 - eps/3 + U:  div(M) - (friction + phi/2)*phi'
    - (d(E_x, t) - q_x*d(M_x, t) - (friction_x + phi_x/2)*d(phi_x, t))
conserve M = w*W^2*v:            div(M*v) + grad(eps/3 - U) + [friction*d(phi, x)]
    - [d(M_x, t) - q_x*d(M_x*v_x + p_x, t) - q_x*friction_x*d(phi_x, t)]
scheme )" +
          scheme + R"(
init phi = phi_x, phi' = d(phi_x, t), eps = eps_x, v = [v_x]
evolve ssp_rk3, dt = 0.4*dx, until = t > 0.999
every 10 steps: f = mean(abs(phi - phi_x)), e = mean(abs(eps - eps_x)),
    u = mean(abs(v[0] - v_x)) -> "w.h5"
)",
      {});
  return std::max({last(result, "f"), last(result, "e"), last(result, "u")});
}

TEST(FieldBesideLaws, WavesWithAPressureOfTheFieldAreOfOrderTwo) {
  for (const char* scheme :
       {"kt, speed = bound", "kt_primitive, speed = bound",
        "hlle, fastest = (v[0] + c)/(1 + v[0]*c), slowest = (v[0] - c)/(1 - v[0]*c)"}) {
    const double coarse = error_of_waves(scheme, 64), fine = error_of_waves(scheme, 128);
    EXPECT_NEAR(std::log2(coarse / fine), 2, 0.25) << scheme << " " << coarse << " " << fine;
    EXPECT_LT(fine, 1e-3) << scheme;
  }
}

/// sin(k R)/R cos(k t) with a derivative of 0 at the outer wall.
TEST(FieldBesideLaws, AFieldInSphericalCoordinatesIsOfOrderTwo) {
  const auto error = [](int cells) {
    const auto result = run_text(
        "model ball \"a standing wave in a ball\"\n"
        "lattice line: " +
            std::to_string(cells) + R"(, length = 1, boundary = neumann
R = x + 1/2
metric scale(1, R, R)
field phi: real
primitive n: real
q = 4.493409457909064
phi'' = lap(phi)
conserve N = n: d(0*n, x)
recover {
  n = N
}
scheme upwind, speed = 1
evolve rk4, dt = 0.4*dx, until = t > 1.999
init phi = sin(q*R)/R, phi' = 0, n = 1
precision real = f64
every 10 steps: e = mean(abs(phi - sin(q*R)/R*cos(q*t))),
    energy = total(phi'^2/2 + norm2(grad(phi))/2) -> "b.h5"
expect abs(energy/first(energy, t >= 0) - 1) < 1e-5
)",
        {});
    for (const auto& promise : result.expectations) EXPECT_TRUE(promise.ok) << promise.text;
    return last(result, "e");
  };
  const double coarse = error(40), fine = error(80);
  EXPECT_NEAR(std::log2(coarse / fine), 2, 0.15) << coarse << " " << fine;
  EXPECT_LT(fine, 5e-3);
}

/// A wall of a given speed in the bag equation of state, alpha = 0.1: the largest velocity, and the
/// share of the vacuum energy that becomes kinetic.
std::array<double, 2> wall_of_speed(const std::string& speed, const std::string& until, int cells) {
  const auto result = run_text(
      "model wall \"a wall of given speed\"\n"
      "param alpha = 0.1, v_w = " +
          speed + "\nlattice line: " + std::to_string(cells) +
          ", length = 1, boundary = neumann\n"
          "R = x + 1/2\nmetric scale(1, R, R)\n"
          "field phi: real\nU = alpha*(1 - phi)\n" +
          kFluid + R"(
place = (R - 6*dx - v_w*t)/(2*dx)
phi' = v_w/(4*dx)*(1 - tanh(place)^2)
conserve E = w*W^2 - eps/3 + U:  div(M)
conserve M = w*W^2*v:            div(M*v) + grad(eps/3 - U)
scheme kt_primitive, speed = bound, theta = 1.3
evolve ssp_rk3, dt = 0.4*dx, until = t > )" +
          until + R"(
init phi = (1 - tanh(R/(2*dx) - 3))/2, eps = 1, v = 0
peak  = max(v[0])
kappa = 3*total(w*W^2*norm2(v))*dx/(alpha*(v_w*t)^3)
every 100 steps: t, peak, kappa -> "d.h5"
expect conserved(E) within 1e-12
)",
      {});
  for (const auto& promise : result.expectations) EXPECT_TRUE(promise.ok) << promise.text;
  return {last(result, "peak"), last(result, "kappa")};
}

/// The self-similar flows were integrated independently, for a wall without thickness. This one is
/// four cells thick and begins six cells from the centre, so that its flow differs in the ratio of
/// these to the radius: kappa of a cell size of 0 is extrapolated.
TEST(FieldBesideLaws, WallsInTheBagEquationOfState) {
  struct Flow {
    const char *speed, *until;
    double peak, kappa;
    double near;  ///< part by which numbers of 4000 cells may differ
  };
  for (const Flow& flow : {Flow{"0.9", "0.9", 0.165629, 0.156861, 0.006},
                           Flow{"0.3", "1.4", 0.098024, 0.123062, 0.01}}) {
    const auto coarse = wall_of_speed(flow.speed, flow.until, 2000);
    const auto fine = wall_of_speed(flow.speed, flow.until, 4000);
    EXPECT_NEAR(fine[0] / flow.peak, 1, flow.near) << flow.speed;
    EXPECT_NEAR(fine[1] / flow.kappa, 1, flow.near) << flow.speed;
    EXPECT_NEAR((2 * fine[1] - coarse[1]) / flow.kappa, 1, 3e-4) << flow.speed;
  }
}

/// The velocity behind the wall from its speed, by conservation across it; energy of field and gas.
TEST(FieldBesideLaws, ABubbleWallDrivesTheGas) {
  const auto result = run_file(shipped("hydro/bubble"), {});
  EXPECT_EQ(result.expectations.size(), 2U);
  for (const auto& promise : result.expectations)
    EXPECT_TRUE(promise.ok) << promise.text << ": " << promise.value;
}

}  // namespace
}  // namespace vphi
