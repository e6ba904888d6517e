// The shipped models lphi4_u1 and axion_u1: their promises on small lattices, and single waves of
// photons against the ordinary equations of a homogeneous scalar, the expansion that follows from
// it and one wave, with the wave numbers of the lattice.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <numbers>
#include <string>

#include "tests/physics/gauge/changed_text.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::last;
using testing::put;
using testing::Simulation;

void expect_promises(const std::string& name, const Simulation& setup) {
  const auto result = testing::run_file(testing::shipped(name), setup);
  EXPECT_EQ(result.expectations.size(), 2u);
  for (const auto& promise : result.expectations)
    EXPECT_TRUE(promise.ok) << promise.text << ": " << promise.value;
}

TEST(PhotonPreheating, KeepsItsPromises) {
  Simulation setup;
  setup.lattice = "8^3";
  setup.until = "a > 5";
  expect_promises("cosmology/lphi4_u1", setup);
}

TEST(AxionInflation, KeepsItsPromises) {
  Simulation setup;
  setup.lattice = "8^3";
  setup.steps = 400;
  expect_promises("cosmology/axion_u1", setup);
}

/// A scalar, its velocity, log(a), a wave of photons and its velocity, in cosmic time.
using Background = std::array<double, 5>;

/// By the classical method of order 4.
Background advanced(Background y, double end, int steps,
                    const std::function<Background(const Background&)>& rate) {
  const double h = end / steps;
  const auto moved = [](Background y, const Background& k, double by) {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] += by * k[i];
    return y;
  };
  for (int step = 0; step < steps; ++step) {
    const Background a = rate(y), b = rate(moved(y, a, h / 2)), c = rate(moved(y, b, h / 2)),
                     d = rate(moved(y, c, h));
    for (std::size_t i = 0; i < y.size(); ++i) y[i] += h / 6 * (a[i] + 2 * b[i] + 2 * c[i] + d[i]);
  }
  return y;
}

// A wave of links along x that runs along y has the wave number 2 sin(q dx/2)/dx and the mass
// sqrt(2) e |phi|; |phi| obeys |phi|'' = -3 H |phi|' - 2 lambda |phi|^3.
TEST(PhotonPreheating, AWaveHasTheMassThatTheFieldGivesIt) {
  std::string text = testing::text_of_shipped("cosmology/lphi4_u1");
  put(text, "phi ~ phi0*one + vacuum(cutoff = 3*omega), q ~ dphi0*one + vacuum(cutoff = 3*omega)",
      "phi = phi0*one, q = dphi0*one");
  put(text, "U = 1, E = 0, gauss = 0", "U[i] = exp(1e-7i*cos(2*pi*index(y)/8)*(i == 0)), E = 0");
  put(text, "evolve leapfrog, dt = 0.01/omega", "evolve vv6, dt = 0.0025/omega");
  text +=
      "every 10 steps: now = t, size = a, wave = 2*mean(im(U[x])*cos(2*pi*index(y)/8)) -> "
      "\"w.h5\"\n";
  Simulation setup;
  setup.lattice = "8^3";
  setup.until = "a > 3";
  const auto result = testing::run_text(text, setup);

  const double lambda = 9e-14, e = 1.11037e-5, phi0 = 2.3393839836, unit = std::sqrt(lambda) * phi0;
  const double dx = 2 * std::numbers::pi / (0.6 * unit) / 8,
               k = 2 / dx * std::sin(std::numbers::pi / 8);
  const auto rate = [&](const Background& y) {
    const double H = std::sqrt((y[1] * y[1] + lambda * std::pow(y[0], 4)) / 3);
    const double w2 = k * k * std::exp(-2 * y[2]) + 2 * e * e * y[0] * y[0];
    return Background{y[1], -3 * H * y[1] - 2 * lambda * std::pow(y[0], 3), H, y[4],
                      -H * y[4] - w2 * y[3]};
  };
  const auto& waves = result.find("wave")->points;
  const auto& times = result.find("now")->points;
  ASSERT_GT(waves.size(), 20U);
  double largest = 0, before = 0;
  Background y{phi0, -1.1609324996e-6, 0, 1, 0};
  for (std::size_t i = 1; i < waves.size(); ++i) {
    const double t = times[i].second;
    y = advanced(y, t - before, static_cast<int>(5000 * (t - before) * unit) + 1, rate);
    before = t, largest = std::max(largest, std::abs(y[3]));
    EXPECT_NEAR(waves[i].second / 1e-7, y[3], 2e-5) << t * unit;
    EXPECT_NEAR(result.find("size")->points[i].second, std::exp(y[2]), 1e-5) << t * unit;
  }
  EXPECT_GT(largest, 0.5);
}

// Waves of both helicities along z, whose B has the wave number sin(q dx)/dx and F^2 that of links:
// A'' = -H A' - (k1/a)^2 A -+ alpha phi' k2 A/a.
TEST(AxionInflation, WavesOfOneHelicityGrowByTheRateOfTheLattice) {
  std::string text = testing::text_of_shipped("cosmology/axion_u1");
  put(text, "lattice box: 64^3, length = 2*pi/m",
      "sweep n = [-3, -1, 1, 3]\nlattice box: 2 * 2 * 32, spacing = 2*pi/(32*m)");
  put(text, "A ~ spectrum((k < 30*m)/(2*k))", "A = 1e-10*[cos(n*m*z), sin(n*m*z), 0]\ninit E = 0");
  testing::cut(text, "init E = [M", "init E = [M");
  put(text, "evolve heun", "evolve rk4");
  text += "at end: size = mean(norm(A))*1e10 -> \"w.h5\"\n";
  Simulation setup;
  setup.until = "t > 2.9975/m";
  const auto result = testing::run_text(text, setup);
  const auto& size = result.find("size")->values.back();
  const double dx = 2 * std::numbers::pi / 32;
  const std::array<int, 4> waves{-3, -1, 1, 3};
  for (std::size_t i = 0; i < waves.size(); ++i) {
    const double q = std::abs(waves[i]), k1 = 2 / dx * std::sin(q * dx / 2),
                 k2 = std::sin(q * dx) / dx * (waves[i] > 0 ? -1 : 1);
    // in units of 1/m
    const auto rate = [&](const Background& y) {
      const double H = std::sqrt((y[1] * y[1] + y[0] * y[0]) / 6), a = std::exp(y[2]);
      return Background{y[1], -3 * H * y[1] - y[0], H, y[4],
                        -H * y[4] - (k1 * k1 / (a * a) + 13 * y[1] * k2 / a) * y[3]};
    };
    const Background y =
        advanced({1.3960082136, -5.1801036392 / 6.1601642710, 0, 1, 0}, 3, 20000, rate);
    EXPECT_NEAR(size[i] / std::abs(y[3]), 1, 1e-5) << waves[i];
    if (waves[i] == -3) {
      EXPECT_GT(std::abs(y[3]), 100);
    }
  }
}

}  // namespace
}  // namespace vphi
