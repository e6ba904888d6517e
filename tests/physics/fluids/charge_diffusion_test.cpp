// Currents of a charge beside the flow (models/std/charge.vphi): waves in the frame of matter that
// moves, decay in matter that expands, and matter at rest seen from coordinates in which it moves.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <string>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::exact;
using testing::last;
using testing::run_text;
using Complex = std::complex<double>;

/// A classical gas of massless particles, kappa = tau*n/12 (docs/viscous.md): alpha = log(n/T^3)
/// has d(alpha)/dn = 4/n where the energy density does not change.
std::string gas(const std::string& lattice, const std::string& relax, const std::string& rest,
                int axes = 2) {
  return fmt::format(R"(model gas "A charge that diffuses"
lattice {}
primitive eps, n: real, q, v: vec({})
p = eps/3
T = p/n
W = 1/sqrt(1 - norm2(v))
conserve N = n*W + dot(q, v): div(n*W*v + q)
conserve M = 4*p*W^2*v:       div(M*v) + grad(p)
conserve E = 4*p*W^2 - p:     div((E + p)*v)
relax q = {}, time = W*C/T, along = v
recover {{
  u   = norm(M)/(E + (E - norm(M)*u)/3)
  eps = E - norm(M)*u
  v   = M/(E + eps/3)
  n   = (N - dot(q, v))*sqrt(1 - norm2(v))
  solve u by fixed_point, tol = 1e-13, max = 100, start = 0
}}
precision real = f64
{})",
                     lattice, axes, relax, rest);
}

struct Distance {
  double of_density = 0, of_current_across = 0;
};

/// Distances of the wave from the slow root of tau w_r^2 + i w_r = D k_r^2 at t = 2, with the
/// frequency w_r and the wave number k_r in the frame of the matter; the matter moves across the
/// wave too.
Distance wave_error(int cells) {
  const double k = std::numbers::pi / 5, tau = 0.4 / 1.5, D = tau / 3, vx = 0.4, vy = 0.3;
  const double W2 = 1 / (1 - vx * vx - vy * vy), W = std::sqrt(W2);
  // w_r = W (w - k vx), k_r^2 = k^2 - w^2 + w_r^2
  const Complex a = (tau - D) * W2 + D, b = Complex(-2 * k * vx * W2 * (tau - D), W),
                c = k * k * W2 * vx * vx * (tau - D) - D * k * k - Complex(0, W * k * vx);
  const Complex w = (-b + std::sqrt(b * b - 4.0 * a * c)) / (2.0 * a);
  const Complex w_r = W * (w - k * vx), k_r2 = k * k - w * w + w_r * w_r;
  // the current of a unit of density lies along the wave vector, orthogonal to the flow
  const Complex qx = w_r / k_r2 * (k - W * vx * w_r), qy = -w_r / k_r2 * W * vy * w_r;
  const auto number = [](Complex z) {
    return fmt::format("({} + {}*1i)", exact(z.real()), exact(z.imag()));
  };
  const auto result =
      run_text(gas(fmt::format("plane: {}*4, spacing = 10/{}, boundary = periodic", cells, cells),
                   "charge_target(q, W*v, W, v, 0, C/T*n/12, log(n/T^3), C/T)",
                   fmt::format(R"(param C = 0.4, k = 2*pi/10, part = 1e-4
scheme weno5, speed = 1, eps = 1e-12
evolve ssp_rk3, dt = 0.2*dx, until = t >= 2 - dt/2
wave = part*exp(1i*k*x)
init eps = 4.5, n = 1 + re(wave), v = [0.4, 0.3], q = [re({}*wave), re({}*wave)]
crest = mean((n - 1)*exp(-1i*k*x))*2/part
along = mean(q[1]*exp(-1i*k*x))*2/part
every 1 step: apart = norm(crest*exp(1i*{}*t) - 1), across = norm(along*exp(1i*{}*t)/{} - 1),
    still = max(v[0]) - min(v[0]) -> "gas.h5"
expect conserved(N, M, E) within 1e-12
)",
                               number(qx), number(qy), number(w), number(w), number(qy))),
               {});
  for (const auto& promise : result.expectations) EXPECT_TRUE(promise.ok) << promise.text;
  EXPECT_LT(last(result, "still"), 1e-14);
  return {last(result, "apart"), last(result, "across")};
}

TEST(ChargeDiffusion, AWaveInMatterThatMovesHasItsRoot) {
  const Distance coarse = wave_error(32), fine = wave_error(64);
  EXPECT_LT(fine.of_density, 2e-4);
  EXPECT_LT(fine.of_current_across, 0.02);  // a small difference of gradients, which are central
  const auto order = [](double far, double near) { return std::log2(far / near); };
  EXPECT_GT(order(coarse.of_density, fine.of_density), 1.9);
  EXPECT_GT(order(coarse.of_current_across, fine.of_current_across), 1.9);
}

/// The same current everywhere in matter that expands along the third axis: at rest the strain
/// along x is -1/(3 t), so q' = -q/tau - (1 - 1/5) q/t, and T = T_0 (t_0/t)^(1/3), n = n_0 t_0/t.
TEST(ChargeDiffusion, DecaysInMatterThatExpands) {
  const auto result =
      run_text(gas("plane: 4^2, length = 1, boundary = periodic\nmetric scale(1, 1, t), energy = E",
                   "charge_target(q, W*v, W, v, 1/t, C/T*n/12, log(n/T^3), C/T)",
                   R"(param C = 0.4
scheme kt_primitive, speed = 1
evolve ssp_rk3, dt = 0.001, until = t >= 2 - dt/2
init t = 0.5, eps = 4.5, n = 1, v = 0, q = [0.1, -0.05]
every 10 steps: t, q_x = mean(q[0]), q_y = mean(q[1]), density = mean(n) -> "gas.h5"
)"),
               {});
  const double t = last(result, "t"), s = t / 0.5;
  const double steps = 1.5 / 0.4 * std::cbrt(0.5) * 1.5 *
                       (std::pow(t, 2.0 / 3) - std::pow(0.5, 2.0 / 3));  // integral of dt/tau
  const double left = std::pow(s, -0.8) * std::exp(-steps);
  EXPECT_NEAR(last(result, "q_x") / (0.1 * left), 1, 1e-7);
  EXPECT_NEAR(last(result, "q_y") / (-0.05 * left), 1, 1e-7);
  EXPECT_NEAR(last(result, "density"), 1 / s, 1e-9);
}

/// Matter at rest in the laboratory in proper time and rapidity moves with v_z = -tanh(z): every
/// term is there, and together they only let the current decay in the time t*cosh(z) of the
/// laboratory.
TEST(ChargeDiffusion, MatterAtRestInTheLaboratoryLosesItsCurrent) {
  const auto off = [](int cells) {
    const auto result = run_text(
        gas(fmt::format("box: 2*2*{}, spacing = 2/{}, boundary = [periodic, periodic, outflow]\n"
                        "metric scale(1, 1, t), energy = E",
                        cells, cells),
            "space_charge(q, W*v, W, v, C/T*n/12, log(n/T^3), C/T)",
            R"(param C = 0.4
scheme kt_primitive, speed = 1
evolve ssp_rk3, dt = 0.004, until = t >= 0.8 - dt/2
in = (1 if abs(z) < 0.4 else 0)
exact = 0.3*exp(-t*cosh(z)/(0.4/1.5))*[1, -0.5, 0.7*cosh(z)]
init t = 0.5, eps = 4.5, n = 1, v = [0, 0, -tanh(z)], q = exact
every 10 steps: off = sqrt(mean(in*norm2(q - exact))/mean(in*norm2(exact))) -> "gas.h5"
)",
            3),
        {});
    return last(result, "off");
  };
  const double coarse = off(20), fine = off(40);
  EXPECT_LT(fine, 5e-3);
  EXPECT_GT(std::log2(coarse / fine), 1.7) << coarse << " " << fine;
}

/// A relaxation time for which the charge would be faster than light is refused: the square of the
/// speed is kappa/tau*d(alpha)/dn = 12*kappa/(n*tau)/3.
TEST(ChargeDiffusion, FasterThanLightIsRefused) {
  const auto said = [](double factor) {
    try {
      testing::compile_text(
          gas("plane: 8*4, length = 1, boundary = periodic",
              fmt::format("charge_target(q, W*v, W, v, 0, {}*C/T*n/12, log(n/T^3), C/T)", factor),
              "param C = 0.4\nscheme kt_primitive, speed = 1\nevolve ssp_rk3, dt = 0.1*dx, until = "
              "t > 1\ninit eps = 4.5, n = 1, v = 0, q = 0\nat end: mean(n) -> \"gas.h5\"\n"),
          {});
    } catch (const std::runtime_error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_EQ(said(2.9), "");
  EXPECT_NE(said(3.2).find("E0834"), std::string::npos);
}

}  // namespace
}  // namespace vphi
