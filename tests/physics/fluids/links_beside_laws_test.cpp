// Links of U(1) beside conservation laws: a medium that conducts. The current sigma A' on each link
// damps the field, E' = derived - sigma E, carries charge from cell to cell, and heats the medium.
// A wave obeys A'' + sigma A' + k^2 A = 0 with k = 2 sin(q dx/2)/dx, a field along its own wave
// number falls as exp(-sigma t) with its charge. Where sigma is s times the energy of the medium, a
// field that is the same everywhere obeys (A'^2)' = -2 s (w - A'^2/2) A'^2 with the energy w of
// both.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::largest;
using testing::last;

/// `sigma[i]` of the link along i, `start` of links, their momenta and the energy of the medium.
std::string conductor(const std::string& sigma, const std::string& start, double dt) {
  return "model conductor \"Links in a medium that conducts\"\n"
         "param g = 0.8, s = 0.6\n"
         "lattice box: 16 * 2 * 4, spacing = 0.5, boundary = periodic\n"
         "gauge U: U(1), E: real\n"
         "primitive rho: real, eps: real\n"
         "q = 2*pi/8\n"
         "sigma[i] = " +
         sigma + R"(
P[i,j] = loop(i, j, -i, -j)
electric[i] = g*dx*E[i]
of_links = sum(electric[i]^2, i)/2 + sum(1 - re(P[i,j]), i < j)/(g^2*dx^4)
H = total(of_links)
E[i]' = derived - sigma[i]*E[i]
current[i] = sigma[i]*electric[i]
conserve Q = rho: sum(current[i] - current[i]@-i, i)/dx
conserve N = eps: -sum(current[i]*electric[i], i)
recover {
  rho = Q
  eps = N
}
scheme kt, speed = 0
div_e = sum(electric[i] - electric[i]@-i, i)/dx
init )" + start +
         ", rho = div_e\nprecision real = f64\n" +
         fmt::format("evolve rk4, dt = {}, until = t > {}\n", dt, 2 - dt / 2) + R"(
law = max(abs(div_e - rho))
along = max(electric[x])
across = 1e5*max(im(U[y]))
energy = mean(eps + of_links)
every 1 step: t, along, across, charge = max(rho), law, energy, eps = mean(eps) -> "l.h5"
)";
}

TEST(LinksBesideLaws, WavesAndChargesOfAConductor) {
  const auto result = testing::run_text(
      conductor("s", "U[k] = exp(1e-5i*cos(q*x)*(k == 1)), E[k] = cos(q*x)*(k == 0), eps = 1",
                0.01),
      {});
  const double q = std::numbers::pi / 4, dx = 0.5, s = 0.6, t = 2, at = 0.25;  // of the first link
  ASSERT_NEAR(last(result, "t"), t, 1e-9);
  const double k = 2 * std::sin(q * dx / 2) / dx, w = std::sqrt(k * k - s * s / 4);
  const double largest_cos = std::cos(q * at);
  EXPECT_NEAR(
      last(result, "across"),
      largest_cos * std::exp(-s * t / 2) * (std::cos(w * t) + s / (2 * w) * std::sin(w * t)), 1e-7);
  EXPECT_NEAR(last(result, "along"), 0.8 * dx * largest_cos * std::exp(-s * t), 1e-8);
  EXPECT_NEAR(last(result, "charge"), 0.8 * dx * k * std::exp(-s * t), 1e-8);
  EXPECT_LT(largest(result, "law"), 1e-14);
}

TEST(LinksBesideLaws, AMediumConductsTheBetterTheHotterItIs) {
  const auto result =
      testing::run_text(conductor("s*eps", "U = 1, E[k] = 3*(k == 0), eps = 0.5", 0.01), {});
  const double first = std::pow(0.8 * 0.5 * 3, 2), all = 0.5 + first / 2;
  const double square = 2 * all / (1 + (2 * all / first - 1) * std::exp(2 * 0.6 * all * 2));
  EXPECT_NEAR(last(result, "along"), std::sqrt(square), 1e-8);
  EXPECT_NEAR(last(result, "eps"), all - square / 2, 1e-8);
  EXPECT_GT(last(result, "eps"), 0.9);
}

TEST(LinksBesideLaws, WhatLinksLoseTheMediumGains) {
  double drift[2];
  for (int i = 0; i < 2; ++i) {
    const auto result = testing::run_text(
        conductor("s*(eps + eps@i)/2",
                  "U[k] = exp(0.3i*cos(2*q*x + pi*z)*(k == 1)), "
                  "E[k] = sin(q*x + k) + (-1)^k*cos(pi*z), eps = 1 + 0.5*cos(q*x)",
                  0.04 / (1 << i)),
        {});
    EXPECT_LT(largest(result, "law"), 1e-13);
    EXPECT_GT(last(result, "eps"), 1.05);
    const auto& energies = result.find("energy")->points;
    drift[i] = std::abs(energies.back().second / energies.front().second - 1);
  }
  EXPECT_LT(drift[1], 1e-6);
  EXPECT_GT(drift[0] / drift[1], 12);
}

// Of SU(2), A_i^a = A(t) delta_i^a: x = g dx A obeys x'' = -(16/dx^2) sin^3(x/2) cos(x/2) - s w x'
// and the energy w of the medium w' = 3 s w (x'/(g dx))^2, on the lattice.
TEST(LinksBesideLaws, AModeOfSU2HeatsAMedium) {
  const double dx = 0.4, g = 1.5, s = 0.6, until = 2;
  using State = std::array<double, 3>;  // x, x', w
  const auto rate = [&](const State& at) {
    const double half = std::sin(at[0] / 2);
    return State{at[1],
                 -16 / (dx * dx) * half * half * half * std::cos(at[0] / 2) - s * at[2] * at[1],
                 3 * s * at[2] * std::pow(at[1] / (g * dx), 2)};
  };
  State state{g * dx, 0, 0.5};
  constexpr int kSteps = 4000;
  const double h = until / kSteps;
  for (int step = 0; step < kSteps; ++step) {
    State sum{}, there = state;
    for (const auto& [weight, next] : {std::pair{1.0, 0.5}, {2.0, 0.5}, {2.0, 1.0}, {1.0, 0.0}}) {
      const State k = rate(there);
      for (std::size_t i = 0; i < 3; ++i) {
        sum[i] += weight * k[i];
        there[i] = state[i] + next * h * k[i];
      }
    }
    for (std::size_t i = 0; i < 3; ++i) state[i] += h / 6 * sum[i];
  }
  const auto result = testing::run_text(R"(model plasma "Links of SU(2) in a medium that conducts"
param g = 1.5, s = 0.6
lattice box: 2^3, spacing = 0.4, boundary = periodic
gauge U: SU(2), E: su(2)
primitive eps: real
P[i,j] = loop(i, j, -i, -j)
of_links = (g*dx)^2*sum(norm2(E[i]), i) + 2*sum(2 - re(tr(P[i,j])), i < j)/(g^2*dx^4)
H = total(of_links)
sigma[i] = s*(eps + eps@i)/2
E[i]' = derived - sigma[i]*E[i]
conserve N = eps: -2*(g*dx)^2*sum(sigma[i]*norm2(E[i]), i)
recover {
  eps = N
}
scheme kt, speed = 0
c = cos(g*dx/2)
d = sin(g*dx/2)
init U[k] = [[c + 1i*d*(k == 2), 1i*d*(k == 0) + d*(k == 1)], [1i*d*(k == 0) - d*(k == 1), c - 1i*d*(k == 2)]]
init E = 0, eps = 0.5
X = [[0, 1], [1, 0]]
precision real = f64
evolve rk4, dt = 0.01, until = t > 1.995
every 1 step: x = mean(2*asin(im(tr(X*U[x]))/2)), w = mean(eps), energy = mean(eps + of_links), t -> "m.h5"
)",
                                        {});
  ASSERT_NEAR(last(result, "t"), until, 1e-12);
  EXPECT_NEAR(last(result, "x"), state[0], 1e-7);
  EXPECT_NEAR(last(result, "w"), state[2], 1e-7);
  EXPECT_GT(last(result, "w"), 0.6);
  EXPECT_NEAR(last(result, "energy"), result.find("energy")->points.front().second, 1e-7);
}

}  // namespace
}  // namespace vphi
