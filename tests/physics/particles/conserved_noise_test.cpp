// Noise of neighbours: c' = ... + div(noise), as conserved fields have it. Each number is drawn
// once and read by both of its neighbours. References: sums over the modes of the lattice of the
// exact stationary variance of a linear step.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>

#include <fmt/format.h>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::last;
using testing::run_text;
using testing::Simulation;

constexpr double kPi = std::numbers::pi;
constexpr int kSites = 16;
constexpr double kStep = 0.02;

/// c' = lap(m*c - lap(c)) + flux on a ring of spacing 1, paths enough for errors of a percent.
std::string model_b(const std::string& flux, const std::string& step = "euler_maruyama") {
  return fmt::format(R"(model b "Model B without the fourth power"
param m = 2, T = 0.7
sweep path = 1..1000
lattice ring: {}, length = {}, boundary = periodic
field c: real
xi = sqrt(2*T)*noise
c' = lap(m*c - lap(c)) + {}
init c = 0
evolve {}, dt = {}, until = t > 60
precision real = f64
every 50 steps, after = t > 15: mean(c^2, over = [path, time]), mean(c*c@x, over = [path, time]), mean(c*c@(2), over = [path, time]), max(abs(total(c)), over = [path, time]) -> "b.h5"
)",
                     kSites, kSites, flux, step, kStep);
}

/// <c(x) c(x + r)> of modes with the rate lambda(k) and noise of the strength 2 T d2(k), where a
/// mode is multiplied by 1 - lambda*dt in a step (explicit Euler).
double correlation(int r, const std::function<double(double)>& d2) {
  double sum = 0;
  for (int n = 1; n < kSites; ++n) {
    const double k = 2 * kPi * n / kSites, k2 = 2 - 2 * std::cos(k);
    const double lambda = k2 * (2 + k2);
    sum += std::cos(k * r) * 2 * 0.7 * d2(k) / (lambda * (2 - lambda * kStep)) / kSites;
  }
  return sum;
}

void expect_correlations(const std::string& flux, const std::function<double(double)>& d2) {
  const auto result = run_text(model_b(flux), {});
  const char* names[] = {"mean(c^2, over = [path, time])", "mean(c*c@x, over = [path, time])",
                         "mean(c*c@(2), over = [path, time])"};
  for (int r = 0; r < 3; ++r) {
    EXPECT_NEAR(last(result, names[r]), correlation(r, d2), 0.02 * correlation(0, d2)) << flux;
  }
  EXPECT_LT(last(result, "max(abs(total(c)), over = [path, time])"), 1e-12) << flux;
}

// One-sided differences belong to the compact Laplacian: S(k) = T/(m + k2) but for the step.
TEST(ConservedNoise, FluxesBetweenSitesHaveTheLatticesStructureFactor) {
  expect_correlations("(xi - xi@-x)/dx", [](double k) { return 2 - 2 * std::cos(k); });
}

// d(noise, x) spans two sites: sin(k)^2 in the place of 2 - 2 cos(k).
TEST(ConservedNoise, CentralDifferencesHaveTheirOwn) {
  expect_correlations("d(xi, x)", [](double k) { return std::pow(std::sin(k), 2); });
}

// The operator that acts on the noise may be a stencil.
TEST(ConservedNoise, LaplacianOfNoise) {
  expect_correlations("lap(xi)", [](double k) { return std::pow(2 - 2 * std::cos(k), 2); });
}

/// A model with its own lattice, equation and integrator; at its end total(c) and mean(c^2).
double conserved(const std::string& lattice, const std::string& lines, const std::string& step,
                 const Simulation& setup = {}) {
  const auto result = run_text(fmt::format(R"(model kept "total(c) is kept"
lattice box: {}
field c: real
{}
evolve {}, until = t > 2
precision real = f64
at end: total(c), mean(c^2) -> "kept.h5"
expect conserved(c) within 1e-12
)",
                                           lattice, lines, step),
                               setup);
  EXPECT_TRUE(result.expectations.front().ok) << lines << step;
  return last(result, "mean(c^2)");
}

TEST(ConservedNoise, TotalsAreKeptToRounding) {
  const std::string square = "24 * 20, spacing = 0.5, boundary = periodic";
  // a vector of noises, three of them; a strength that depends on the state; both orders in time
  EXPECT_GT(
      conserved(square, "init c = 1 + 0.1*sin(x)\nc' = lap(c^3 - lap(c)) + div([noise, noise])",
                "srk2, dt = 0.001"),
      1.01);
  EXPECT_GT(conserved("8 * 10 * 6, spacing = 1, boundary = periodic",
                      "init c = 1\nc' = lap(c) + div([noise, noise, noise])", "sra1, dt = 0.01"),
            1.01);
  EXPECT_GT(
      conserved(square, "noise ito\ninit c = 2\nmob = sqrt(1 + c^2)\nc' = lap(c) + d(mob*noise, x)",
                "euler_maruyama, dt = 0.01"),
      4.01);
  EXPECT_GT(conserved(square, "init c = 1, c' = 0\nc'' = lap(c) + lap(c') + div([noise, noise])",
                      "srk2, dt = 0.001"),
            1.001);
}

// Keyed by site and step: the same numbers on every device.
TEST(ConservedNoise, DevicesDrawTheSame) {
  if (!testing::device("opencl")) GTEST_SKIP() << "no OpenCL device";
  Simulation other;
  other.device = "opencl";
  for (const char* lattice :
       {"64 * 48, spacing = 0.5, boundary = periodic", "32, spacing = 0.5, boundary = periodic"}) {
    const std::string lines =
        std::string(lattice).find('*') != std::string::npos
            ? "init c = 1\nc' = lap(c^3) + div([noise, noise]) + lap(noise)/10"
            : "init c = 1\nc' = lap(c^3) + d(noise, x)";
    const double here = conserved(lattice, lines, "euler_maruyama, dt = 0.005");
    EXPECT_NEAR(conserved(lattice, lines, "euler_maruyama, dt = 0.005", other), here, 1e-11 * here);
  }
}

// Two fields that exchange what the noise moves: one number for both equations.
TEST(ConservedNoise, TwoEquationsShareAName) {
  const auto result = run_text(R"(model two "what one loses the other gains"
lattice ring: 32, length = 32, boundary = periodic
field c, e: real
xi = noise
c' = lap(c) + d(xi, x)
e' = lap(e) - d(xi, x)
init c = 0, e = 0
evolve euler_maruyama, dt = 0.05, until = t > 5
precision real = f64
at end: max(abs(c + e)), max(abs(c)) -> "two.h5"
)",
                               {});
  EXPECT_LT(last(result, "max(abs(c + e))"), 1e-13);
  EXPECT_GT(last(result, "max(abs(c))"), 0.1);
}

}  // namespace
}  // namespace vphi
