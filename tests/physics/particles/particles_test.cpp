// Long-range Hamiltonians against closed forms (docs/formulas.md 6.6 and 6.7): growth of a cold
// ring, orders, momentum, separated sums against sums over all pairs.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::last;
using testing::run_text;
using testing::Simulation;

/// Bodies at rest, evenly spaced but for a wave of `amplitude` and one period.
std::string cold(const std::string& energy, int n, double amplitude, double dt, double end) {
  return "model cold\nparam N = " + std::to_string(n) + "\nparticles body: N\n" +
         "var theta[k]: angle, p[k]: real\nH = sum(p[k]^2/2, k) + " + energy + "\n" +
         "init theta[k] = 2*pi*k/N - 2*" + std::to_string(amplitude) + "*sin(2*pi*k/N), p = 0\n" +
         "evolve yoshida4, dt = " + std::to_string(dt) + ", until = t > " + std::to_string(end) +
         "\nevery 1 steps: t, mean(cos(theta)), mean(p), H -> \"cold.h5\"\nexpect drift(H) < "
         "1e-6\n";
}

const std::string kMeanField = "sum(1 - cos(theta[k] - theta[l]), k, l)/(2*N)";
std::string ring(double eps) {
  return "(-1/(2*sqrt(2)*N))*sum(1/sqrt(1 - cos(theta[k] - theta[l]) + " + std::to_string(eps) +
         "), k, l)";
}

/// Growth of mean(cos(theta)) over the run, against cosh(rate*t).
void expect_growth(const runtime::RunResult& result, double rate, double tolerance) {
  const auto* m = result.find("mean(cos(theta))");
  ASSERT_TRUE(m);
  const double start = m->points.front().second;
  const auto [t, end] = m->points.back();
  EXPECT_NEAR(end / start / std::cosh(rate * t), 1, tolerance) << "t = " << t;
}

TEST(MeanField, ColdRingGrowsAsTheHyperbolicCosine) {
  const auto result = run_text(cold(kMeanField, 512, 1e-5, 0.05, 6), {});
  expect_growth(result, 1 / std::sqrt(2.0), 2e-4);
  EXPECT_NEAR(last(result, "mean(p)"), 0, 1e-14) << "forces come in pairs";
}

TEST(MeanField, SeparatedSumsAreTheSumsOverPairs) {
  std::string text = cold(kMeanField, 300, 0.2, 0.05, 2);
  Simulation setup;
  setup.keep_state = true;
  const auto separated = run_text(text, setup);
  text.replace(text.find("body: N"), 7, "body: N, method = pairs");
  const auto pairs = run_text(text, setup);
  for (std::size_t v = 0; v < pairs.state.size(); ++v) {
    for (std::size_t i = 0; i < pairs.state[v].size(); ++i) {
      EXPECT_NEAR(pairs.state[v][i], separated.state[v][i], 1e-12) << v << " " << i;
    }
  }
  EXPECT_NEAR(last(pairs, "H") / last(separated, "H"), 1, 1e-13);
}

/// docs/formulas.md 6.6: largest energy error of Yoshida's scheme, sixteen times less a halving.
TEST(MeanField, EnergyErrorOfOrderFour) {
  const auto drift = [](double dt) {
    return run_text(cold(kMeanField, 200, 0.3, dt, 20), {}).expectations.at(0).value;
  };
  const double coarse = drift(0.2), fine = drift(0.1);
  EXPECT_NEAR(std::log2(coarse / fine), 4, 0.3) << coarse << " " << fine;
}

/// docs/formulas.md 6.7: gamma^2 = (1/2 pi) int G(psi) sin(psi) dpsi.
TEST(Ring, GrowthRateOfTheFirstMode) {
  expect_growth(run_text(cold(ring(1), 256, 1e-5, 0.05, 8), {}), 0.267031766, 1e-4);
  expect_growth(run_text(cold(ring(0.1), 256, 1e-5, 0.05, 5), {}), 0.5581658125, 3e-4);
}

/// Pairs in f32, added up in f64: as good as the terms.
TEST(Ring, ForcesOfPairsInSinglePrecision) {
  std::string text = cold(ring(0.1), 256, 0.1, 0.05, 1);
  Simulation setup;
  setup.keep_state = true;
  const auto exact = run_text(text, setup);
  text += "precision store = f64, pair = f32, sum = f64\n";
  const auto rounded = run_text(text, setup);
  double error = 0;
  for (std::size_t i = 0; i < exact.state[1].size(); ++i) {
    error = std::max(error, std::abs(exact.state[1][i] - rounded.state[1][i]));
  }
  EXPECT_LT(error, 1e-5);
  EXPECT_GT(error, 1e-12) << "the sums were not taken in single precision";
}

/// Two bodies under a logarithmic potential: speed sqrt(g/2) on a circle of any radius.
TEST(Gravity2d, CircularOrbitOfTwo) {
  const double g = 0.5, radius = 1.5, speed = std::sqrt(g / 2);
  const double period = 2 * std::numbers::pi * radius / speed;
  const auto result = run_text(
      "model pair\nparam N = 2, g = 0.5, R = 1.5\nparticles body: N\n"
      "var x[k]: vec(2), p[k]: vec(2)\n"
      "H = sum(norm2(p[k])/2, k) + g/(2*N)*sum(log(norm2(x[k] - x[l])), k != l)\n"
      "init x[k] = [R - 2*R*k, 0], p[k] = [0, sqrt(g/2) - 2*sqrt(g/2)*k]\n"
      "evolve yoshida4, dt = 0.01, until = t > " +
          std::to_string(period - 0.005) +
          "\n"
          "every 10 steps: mean(norm2(x)), mean(norm2(p)), H -> \"pair.h5\"\n",
      {});
  // <p^2> = g (N - 1)/N for every stationary state (virial theorem)
  EXPECT_NEAR(last(result, "mean(norm2(p))"), g / 2, 1e-9);
  EXPECT_NEAR(last(result, "mean(norm2(x))"), radius * radius, 1e-8);
}

// A running mean is brought forward with every step, and what it is made of stays between outputs.
TEST(Gravity2d, RunningMeansGoOnAfterOutputs) {
  const auto result = [](int every) {
    return run_text(
        "model disk\nparam N = 64, eps = 1e-2\nparticles body: N\n"
        "var x[k]: vec(2), p[k]: vec(2)\n"
        "H = sum(norm2(p[k])/2, k) + 1/(4*N)*sum(log(norm2(x[k] - x[l]) + eps), k, l)\n"
        "init x ~ ball(1), p ~ normal/2\nevolve yoshida4, dt = 0.01, until = step >= 24\n"
        "every " +
            std::to_string(every) +
            " steps: H, mean(norm2(x)) -> \"disk.h5\"\n"
            "at end: virial = mean(norm2(p), over = time) -> \"disk.h5\"\n"
            "expect drift(H) < 1e-3\nexpect mean(norm2(p), over = time) > 0\n",
        {});
  };
  const auto often = result(3), once = result(24);
  for (const char* name : {"H", "mean(norm2(x))", "virial"})
    EXPECT_NEAR(last(often, name), last(once, name), 1e-13) << name;
  EXPECT_TRUE(often.failures.empty());
}

TEST(Kepler, EllipseAndItsSchemes) {
  const auto error = [](const std::string& scheme, double dt) {
    return run_text(
               "model kepler\nparticles planet: 1\nvar x[k]: vec(2), p[k]: vec(2)\n"
               "H = sum(norm2(p[k])/2 - 1/norm(x[k]), k)\n"
               "init x = [1/2, 0], p = [0, sqrt(3)]\nevolve " +
                   scheme + ", dt = " + std::to_string(dt) +
                   ", until = t > 6*pi\nevery 1 steps: H -> \"k.h5\"\n"
                   "expect drift(H) < 1\n",
               {})
        .expectations.at(0)
        .value;
  };
  for (const char* scheme : {"yoshida4", "pefrl", "mclachlan4", "suzuki4", "srkn6b"}) {
    const double coarse = error(scheme, std::numbers::pi / 100);
    const double fine = error(scheme, std::numbers::pi / 200);
    EXPECT_NEAR(std::log2(coarse / fine), 4, 0.6) << scheme << " " << coarse << " " << fine;
  }
  // forces for the same error: six at 4 times the step against three
  EXPECT_LT(error("srkn6b", std::numbers::pi / 100),
            0.1 * error("yoshida4", std::numbers::pi / 200));
}

/// Force on each body of a ring: its momentum after one kick from rest.
std::vector<double> ring_forces(const char* pair, int bodies, const std::string& device) {
  Simulation setup;
  setup.device = device;
  setup.steps = 1;
  setup.keep_state = true;
  const auto r = run_text(
      fmt::format(
          "model ring\nparam N = {}, eps = 0.01\nparticles body: N\n"
          "var theta[k]: angle, p[k]: real\n"
          "H = sum(p[k]^2/2, k) - 1/(2*sqrt(2)*N)*sum(1/sqrt(1 - cos(theta[k] - theta[l]) + "
          "eps), k, l)\ninit theta ~ uniform(0, 2*pi), p = 0\n"
          "evolve symplectic_euler, dt = 1, until = t > 100\n"
          "precision store = f64, pair = {}, sum = f64\nat end: H -> \"r.h5\"\n",
          bodies, pair),
      setup);
  return r.state.at(1);
}

/// Tiles in single precision, added in double: rms error of the forces below 1e-5 of their rms.
TEST(Pairs, ErrorOfTilesInSinglePrecision) {
  for (const std::string device : {"native", "opencl"}) {
    if (testing::device(device) == nullptr) continue;
    for (const int bodies : {4096, 8192}) {
      const auto exact = ring_forces("f64", bodies, device),
                 tiles = ring_forces("f32", bodies, device);
      double error = 0, size = 0;
      for (std::size_t i = 0; i < exact.size(); ++i) {
        error += (tiles[i] - exact[i]) * (tiles[i] - exact[i]);
        size += exact[i] * exact[i];
      }
      EXPECT_EQ(exact.size(), static_cast<std::size_t>(bodies));
      EXPECT_LT(std::sqrt(error / size), 1e-5) << bodies << " on " << device;
      EXPECT_GT(error, 0) << "single precision shows";
    }
  }
}

}  // namespace
}  // namespace vphi
