// A field phi that couples to F F~ of a vector field A, L = A'^2/2 - B^2/2 + alpha phi A'.B with
// B = curl(A). Where phi' is constant, b = alpha phi', a wave of one helicity obeys
// A'' = k (b - k) A and grows at the rate sqrt(k (b - k)) for k < b, the other one
// A'' = -k (b + k) A and does not; k is sin(q dx)/dx, that of the central difference of curl
// (Anber and Sorbo, Phys. Rev. D 81 (2010) 043534). The coupling has no energy of its own.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::last;

constexpr double kRollRate = 1.5, kCellSize = 0.25, kTimeOfGrowth = 6;
constexpr int kCellsOfBox = 64;

/// |A| of a wave with `waves` around the box over |A| at the start, at kTimeOfGrowth.
double growth_of_waves(int waves, int helicity) {
  const auto result =
      testing::run_text(fmt::format(R"(model rolling "A field that rolls at a constant rate"
param b = {}, q = 2*pi*{}/({}*{})
lattice box: 2 * 2 * {}, spacing = {}, boundary = periodic
field A: vec(3)
B = curl(A)
lagrangian L = norm2(A')/2 - norm2(B)/2 + b*t*dot(A', B)
init A = [cos(q*z), -({})*sin(q*z), 0], A' = 0
evolve rk4, dt = 0.01, until = t > {}
precision real = f64
at end: t, square = mean(norm2(A)), spread = max(norm2(A)) - min(norm2(A)) -> "a.h5"
)",
                                    kRollRate, waves, kCellsOfBox, kCellSize, kCellsOfBox,
                                    kCellSize, helicity, kTimeOfGrowth - 0.005),
                        {});
  EXPECT_LT(last(result, "spread"), 1e-9 * last(result, "square"));
  EXPECT_NEAR(last(result, "t"), kTimeOfGrowth, 1e-9);
  return std::sqrt(last(result, "square"));
}

TEST(RollingAxion, MakesWavesOfOneHelicityGrow) {
  for (const int waves : {1, 2, 3, 5}) {
    const double k = std::sin(2 * std::numbers::pi * waves / kCellsOfBox) / kCellSize;
    const double square = k * (kRollRate - k), rate = std::sqrt(std::abs(square));
    const double expected =
        square > 0 ? std::cosh(rate * kTimeOfGrowth) : std::abs(std::cos(rate * kTimeOfGrowth));
    EXPECT_NEAR(growth_of_waves(waves, -1) / expected, 1, 1e-6) << waves;
    EXPECT_NEAR(growth_of_waves(waves, 1),
                std::abs(std::cos(std::sqrt(k * (kRollRate + k)) * kTimeOfGrowth)), 1e-6)
        << waves;
  }
}

/// How much the energy of phi and A together has changed at t = 4, as a part of it.
double drift_of_energy(double dt) {
  const auto result =
      testing::run_text(fmt::format(R"(model axion "A field that feeds a vector field"
param alpha = 3, m = 0.5
lattice box: 12^3, spacing = 0.5, boundary = periodic
field phi: real, A: vec(3)
B = curl(A)
V = m^2*phi^2/2
lagrangian L = (phi'^2 - norm2(grad(phi)))/2 - V + norm2(A')/2 - norm2(B)/2 + alpha*phi*dot(A', B)
init phi = 1, phi' = 0.3, A ~ normal(0, 0.05), A' = 0
evolve rk4, dt = {}, until = t > 4 - {}/2
precision real = f64
energy = mean((phi'^2 + norm2(grad(phi)) + m^2*phi^2 + norm2(A') + norm2(B))/2)
every 1 step: energy, mean(norm2(A')) -> "e.h5"
)",
                                    dt, dt),
                        {});
  EXPECT_GT(last(result, "mean(norm2(A'))"), 1e-3);
  const auto& energies = result.find("energy")->points;
  return std::abs(energies.back().second / energies.front().second - 1);
}

TEST(RollingAxion, KeepsTheEnergyOfBothFields) {
  const double coarse = drift_of_energy(0.04), fine = drift_of_energy(0.02);
  EXPECT_LT(fine, 1e-6);
  EXPECT_GT(coarse / fine, 10);  // order 4 and more
}

}  // namespace
}  // namespace vphi
