// Stochastic equations on many independent sites, against closed forms (docs/formulas.md 5.4).
// Seeds are fixed, so a test has the same result at every run; bounds are in standard errors.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::last;
using testing::run_text;
using testing::Simulation;

constexpr int kPaths = 1 << 17;

/// dx = -x dt + sqrt(2 D) dW with D = 1/2, to its stationary state.
double variance(const std::string& scheme, double dt, const std::string& noise = "") {
  const auto result = run_text(
      "model ou\nlattice paths: " + std::to_string(kPaths) + ", spacing = 1\nfield u: real\n" +
          noise + "u' = -u + noise\ninit u = 0\nevolve " + scheme + ", dt = " + std::to_string(dt) +
          ", until = t > 12\nevery 10 steps: mean(u), var(u) -> \"o.h5\"\n",
      {});
  EXPECT_NEAR(last(result, "mean(u)"), 0, 5 * std::sqrt(0.5 / kPaths));
  return last(result, "var(u)");
}

/// Standard error of a variance 1/2 of Gaussian numbers.
const double kError = 0.5 * std::sqrt(2.0 / kPaths);

TEST(OrnsteinUhlenbeck, StationaryVarianceIsTheDiscreteClosedForm) {
  const double h = 0.2;
  EXPECT_NEAR(variance("euler_maruyama", h), 0.5 / (1 - h / 2), 4 * kError);
  const double heun = h * std::pow(1 - h / 2, 2) / (1 - std::pow(1 - h + h * h / 2, 2));
  EXPECT_NEAR(variance("srk2", h), heun, 4 * kError);
  // three and two points have the same first moments
  EXPECT_NEAR(variance("srk2", h, "noise stratonovich, accuracy = weak\n"), heun, 4 * kError);
  EXPECT_NEAR(variance("srk2", h, "noise stratonovich, accuracy = weak1\n"), heun, 4 * kError);
}

/// The test above can fail: a wrong scheme, with a new Gaussian in each stage, is far outside.
TEST(OrnsteinUhlenbeck, PlantedBiasIsFound) {
  const double h = 0.2;
  const std::string wrong =
      "integrator wrong(x' = f(x, t) + g*noise) {\n  F1 = f(x, t)\n"
      "  y = x + dt*F1 + g*sqrt(dt)*normal\n"
      "  x = x + dt/2*(F1 + f(y, t + dt)) + g*sqrt(dt)*normal\n}\n";
  const double heun = h * std::pow(1 - h / 2, 2) / (1 - std::pow(1 - h + h * h / 2, 2));
  EXPECT_GT(std::abs(variance("wrong", h, wrong) - heun), 10 * kError);
}

/// Strong order on dx = mu x dt + sigma x dW: the scheme at dt against exp((mu - sigma^2/2) t +
/// sigma W), W summed up beside it from the same noise.
double strong_error(const std::string& scheme, double dt) {
  const auto result = run_text(
      "model gbm\nlattice paths: 65536, spacing = 1\nnoise ito\nfield u, w: real\nxi = noise\n"
      "u' = 1.5*u + u*xi\nw' = xi\ninit u = 1, w = 0\nevolve " +
          scheme + ", dt = " + std::to_string(dt) +
          ", until = t > 0.999\n"
          "every 1 steps: mean(u), mean(abs(u - exp(t + w))) -> \"g.h5\"\n",
      {});
  // the mean of Euler and Maruyama is exactly (1 + mu dt)^n; exp(mu t) within the weak error
  EXPECT_NEAR(last(result, "mean(u)") / std::exp(1.5), 1, 0.1);
  return last(result, "mean(abs(u - exp(t + w)))");
}

TEST(GeometricBrownianMotion, StrongOrders) {
  const double rough = std::log2(strong_error("euler_maruyama", 1.0 / 64) /
                                 strong_error("euler_maruyama", 1.0 / 256)) /
                       2;
  EXPECT_NEAR(rough, 0.5, 0.15);
  for (const char* scheme : {"milstein", "platen"}) {
    const double order =
        std::log2(strong_error(scheme, 1.0 / 64) / strong_error(scheme, 1.0 / 256)) / 2;
    EXPECT_NEAR(order, 1, 0.15) << scheme;
  }
}

/// Free particle with friction: <x^2> = (2 T/gamma^2)(gamma t - 1 + exp(-gamma t)), <v^2> = T.
TEST(Langevin, FreeParticleAndEquipartition) {
  const double T = 0.7, gamma = 0.5, t = 6;
  const auto result = run_text(
      "model free\nparam T = 0.7, gamma = 0.5\nlattice paths: 131072, spacing = 1\nfield u: real\n"
      "u'' = -gamma*u' + sqrt(2*gamma*T)*noise\ninit u = 0, u' ~ sqrt(T)*normal\n"
      "evolve baoab, dt = 0.25, until = t > 5.99\n"
      "every 1 steps: mean(u'^2), mean(u^2) -> \"f.h5\"\n",
      {});
  const double square = 2 * T / (gamma * gamma) * (gamma * t - 1 + std::exp(-gamma * t));
  EXPECT_NEAR(last(result, "mean(u'^2)") / T, 1, 4 * std::sqrt(2.0 / kPaths));
  // position of a free particle by the splitting: of order dt^2
  EXPECT_NEAR(last(result, "mean(u^2)") / square, 1, 4 * std::sqrt(2.0 / kPaths) + 0.006);
}

/// Mean field with noise: r = I1(K r/T)/I0(K r/T); r = 0.831462024754 at K = 4, T = 1.
TEST(Kuramoto, OrderParameter) {
  const auto result = run_text(
      "model kuramoto\nparam K = 4, T = 1, N = 16384\nparticles osc: N\nvar x[i]: angle\n"
      "x[i]' = K/N*sum(sin(x[j] - x[i]), j) + sqrt(2*T)*noise[i]\ninit x ~ uniform(0, 1)\n"
      "evolve srk2, dt = 0.02, until = t > 20\n"
      "every 5 steps: r = abs(mean(exp(1i*x))) -> \"k.h5\"\n",
      {});
  const auto* r = result.find("r");
  ASSERT_TRUE(r);
  double sum = 0;
  int count = 0;
  for (const auto& [t, value] : r->points) {
    if (t > 5) sum += value, ++count;
  }
  // measured scatter of such a mean: 0.00027 a sample of N = 16384, and a bias of order dt^2
  EXPECT_NEAR(sum / count, 0.831462024754, 0.002);
}

}  // namespace
}  // namespace vphi
