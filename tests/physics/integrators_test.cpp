// Orders and errors of the library's integrators, against an independent program's numbers for the
// symplectic ones (largest energy error of a pendulum, docs/formulas.md 6.2) and closed forms of
// linear equations for the stochastic ones (5.4). Seeds are fixed.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::exact;
using testing::last;
using testing::run_text;

struct Symplectic {
  const char* integrator;
  int order;
  double coarse, fine;  ///< largest |H - H(0)| at dt = 0.1 and 0.05, to t = 100
};

class Pendulum : public ::testing::TestWithParam<Symplectic> {};

double energy_error(const std::string& integrator, double dt) {
  const auto r = run_text(
      "model pendulum\nvar q: real, p: real\nH = p^2/2 - cos(q)\n"
      "init q = 0, p = 1.5\nevolve " +
          integrator + ", dt = " + exact(dt) +
          ", until = t > 99.99\nevery 1 steps: H -> \"p.h5\"\n",
      {});
  const auto& points = r.find("H")->points;
  double largest = 0;
  for (const auto& [t, value] : points)
    largest = std::max(largest, std::abs(value - points.front().second));
  return largest;
}

TEST_P(Pendulum, EnergyErrorIsThatOfTheTable) {
  const Symplectic c = GetParam();
  const double coarse = energy_error(c.integrator, 0.1), fine = energy_error(c.integrator, 0.05);
  EXPECT_NEAR(coarse / c.coarse, 1, 0.04);
  EXPECT_NEAR(fine / c.fine, 1, 0.04);
  EXPECT_NEAR(std::log2(coarse / fine), c.order, 0.1);
}

INSTANTIATE_TEST_SUITE_P(Integrators, Pendulum,
                         ::testing::Values(Symplectic{"leapfrog", 2, 2.3e-3, 5.7e-4},
                                           Symplectic{"omelyan2", 2, 9.6e-5, 2.4e-5},
                                           Symplectic{"yoshida4", 4, 9.5e-6, 6.0e-7},
                                           Symplectic{"pefrl", 4, 4.1e-7, 2.6e-8},
                                           Symplectic{"mclachlan4", 4, 5.8e-7, 3.6e-8},
                                           Symplectic{"suzuki4", 4, 9.6e-7, 6.0e-8},
                                           Symplectic{"srkn6b", 4, 2.3e-9, 1.5e-10}),
                         [](const auto& test) { return test.param.integrator; });

/// For one error srkn6b needs a quarter of yoshida4's forces: with 6 forces a step of 0.2 against 3
/// a step of 0.2*3/6/4, it is the better one still.
TEST(Pendulum, AQuarterOfTheForces) {
  EXPECT_LT(energy_error("srkn6b", 0.2), energy_error("yoshida4", 0.025));
}

// ---- noise --------------------------------------------------------------------------------------

constexpr int kPaths = 1 << 16;

struct Path {
  double strong = 0;                ///< mean of |u - exact|
  double weak = 0, weak_sigma = 0;  ///< mean of u - exact and its standard error
};

/// dx = 3/2 x dt + x dW (Ito) to t = 1 beside exp(t + W) on the same path.
Path geometric(const std::string& scheme, int steps) {
  const auto r = run_text(
      "model gbm\nlattice paths: 65536, spacing = 1\nnoise ito\nfield u, w: real\nxi = noise\n"
      "u' = 1.5*u + u*xi\nw' = xi\ninit u = 1, w = 0\nevolve " +
          scheme + ", dt = 1/" + std::to_string(steps) +
          ", until = t > 0.999\nd = u - exp(t + w)\n"
          "at end: strong = mean(abs(d)), weak = mean(d), spread = var(d) -> \"g.h5\"\n",
      {});
  return {last(r, "strong"), last(r, "weak"), std::sqrt(last(r, "spread") / kPaths)};
}

/// Strong order 3/2.
TEST(GeometricBrownianMotion, SriHasStrongOrderThreeHalves) {
  const double order =
      std::log2(geometric("sri", 16).strong / geometric("sri", 128).strong) / std::log2(8.0);
  EXPECT_NEAR(order, 1.5, 0.15);
}

/// The mean is (1 + m h + (m h)^2/2)^n for schemes of weak order 2 and (1 + m h)^n for those of
/// order 1, exactly; it is found as a difference to the exact path, which has little noise.
TEST(GeometricBrownianMotion, WeakOrders) {
  const double m = 1.5;
  const auto check = [&](const std::string& scheme, int order) {
    double bias[2];
    int i = 0;
    for (const int n : {8, 32}) {
      const double h = 1.0 / n;
      const double factor = 1 + m * h + (order == 2 ? m * m * h * h / 2 : 0);
      bias[i] = std::pow(factor, n) - std::exp(m);
      const Path found = geometric(scheme, n);
      EXPECT_NEAR(found.weak, bias[i], 4 * found.weak_sigma) << scheme << ", " << n << " steps";
      EXPECT_LT(4 * found.weak_sigma, 0.9 * std::abs(bias[i])) << "it can be seen";
      ++i;
    }
    EXPECT_NEAR(std::log(bias[0] / bias[1]) / std::log(4.0), order, 0.2);
  };
  check("euler_maruyama", 1);
  check("milstein", 1);
  check("platen", 1);
  check("platen_weak2", 2);
}

/// dx = -x dt + dW: stationary variances of the discrete equations. With a = x-factor and s^2 the
/// variance of a step's noise it is s^2/(1 - a^2); sra1: a = 1 - h + h^2/2, s^2 = h(1 - h + h^2/3).
TEST(OrnsteinUhlenbeck, VarianceOfSra1) {
  const double h = 0.5;
  const auto r = run_text(
      "model ou\nsweep path = 1..131072\nvar x: real\nx' = -x + noise\ninit x = 0\n"
      "evolve sra1, dt = 0.5, until = t > 12\nat end: V = var(x, over = path) -> \"o.h5\"\n",
      {});
  const double a = 1 - h + h * h / 2, expected = h * (1 - h + h * h / 3) / (1 - a * a);
  const double sigma = expected * std::sqrt(2.0 / 131072);
  EXPECT_NEAR(last(r, "V"), expected, 4 * sigma);
  const double heun = h * std::pow(1 - h / 2, 2) / (1 - a * a);
  EXPECT_GT(std::abs(expected - heun), 5 * sigma) << "Heun's variance would be found out";
  ASSERT_FALSE(r.find("V")->errors.empty());
  EXPECT_NEAR(r.find("V")->errors.back().at(0) / sigma, 1, 0.05);
}

/// dx = -x dt + g(t) dW with g = exp(-t)*(1 + c*t) is x = exp(-t)*((1 + c*t)*W - c*int W dt). W and
/// its integral take part in the run: sra1 makes no error in them.
double strong_error_under_growing_noise(const std::string& scheme, int steps) {
  const auto r = run_text(
      "model swell\nlattice paths: 16384, spacing = 1\nparam c = 4\nfield x, w, z: real\n"
      "xi = noise\nx' = -x + exp(-t)*(1 + c*t)*xi\nw' = xi\nz' = w\ninit x = 0, w = 0, z = 0\n"
      // sra1 with the strength that the noise has when the step begins
      "integrator frozen(x' = f(x, t) + g(t)*noise) {\n  dW  = sqrt(dt)*normal\n"
      "  I10 = (dW + sqrt(dt)*normal/sqrt(3))/2\n  F1  = f(x, t)\n"
      "  x   = x + dt/3*F1 + 2/3*dt*f(x + 3/4*dt*F1 + 3/2*g(t)*I10, t + 3/4*dt) + g(t)*dW\n}\n"
      "evolve " +
          scheme + ", dt = 1/" + std::to_string(steps) +
          ", until = t > 0.9999\n"
          "at end: strong = mean(abs(x - exp(-t)*((1 + c*t)*w - c*z))) -> \"s.h5\"\n",
      {});
  return last(r, "strong");
}

/// Noise whose strength depends on time. What keeps sra1 from strong order 2 is the curvature of
/// the drift, and this one has none; with the strength frozen over a step it is of order 1.
TEST(GrowingNoise, Sra1FollowsItsStrength) {
  const auto order = [](const std::string& scheme) {
    return std::log2(strong_error_under_growing_noise(scheme, 16) /
                     strong_error_under_growing_noise(scheme, 128)) /
           3;
  };
  EXPECT_NEAR(order("sra1"), 2.0, 0.1);
  EXPECT_NEAR(order("frozen"), 1.0, 0.1);
}

/// x'' = -x - x' + noise with T = 1/2: BAOAB has <x^2> = T exactly at every step size.
TEST(Langevin, BaoabHasExactPositions) {
  const auto r = run_text(
      "model well\nsweep path = 1..65536\nvar x: real\nx'' = -x - x' + noise\n"
      "init x = 0, x' = 0\nevolve baoab, dt = 0.8, until = t > 24\n"
      "at end: V = var(x, over = path) -> \"o.h5\"\n",
      {});
  EXPECT_NEAR(last(r, "V"), 0.5, 4 * 0.5 * std::sqrt(2.0 / 65536));
}

}  // namespace
}  // namespace vphi
