// Mean-field systems on both sides of their transition, against closed forms
// (docs/formulas.md 6.5 and 6.6). Seeds are fixed; bounds are in standard errors over independent
// paths.
//
// Far below the transition the order parameter z = <exp(i x)> is a complex Ornstein-Uhlenbeck
// process, dz = (K/2 - T) z dt + sqrt(2 T/N) dW, so N<|z|^2> = 1/(1 - K/K_c) with K_c = 2 T.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::exact;
using testing::last;
using testing::run_text;

const std::string kKuramoto =
    "param T = 1\nparticles osc: N\nvar x[i]: angle\n"
    "x[i]' = K/N*sum(sin(x[j] - x[i]), j) + sqrt(2*T)*noise[i]\n";

/// r = I1(K r/T)/I0(K r/T) from K = 2.5 to 10, each within its error bar; and the third moment of
/// the density exp(z cos x)/(2 pi I0(z)), I3/I0 = r - (4/z) I2/I0, I2/I0 = 1 - 2 r/z with z = K r.
TEST(Kuramoto, OrderParameterAgainstCoupling) {
  const double K[] = {2.5, 3, 5, 10};
  const double r[] = {0.589707987783, 0.724158717626, 0.876823422063, 0.945542186423};
  const auto run = run_text(
      "model curve\nparam N = 1000\nsweep K = [2.5, 3, 5, 10]\nsweep path = 1..8\n" + kKuramoto +
          "init x ~ uniform(0, 1.5)\nevolve srk2, dt = 0.025, until = t > 24.99\n"
          "every 1000 steps, after = t > 5: "
          "r = mean(abs(mean(exp(1i*x))), over = [path, time]), "
          "r3 = mean(abs(mean(exp(3i*x))), over = [path, time]) -> \"k.h5\"\n",
      {});
  const auto *first = run.find("r"), *third = run.find("r3");
  ASSERT_TRUE(first != nullptr && third != nullptr && first->values.back().size() == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    const double e1 = first->errors.back()[i], e3 = third->errors.back()[i];
    const double z = K[i] * r[i], moment = r[i] - 4 / z * (1 - 2 / K[i]);
    // finite N moves |z| by about 1/N over the distance to K_c
    const double finite = 1.0 / 1000 / (1 - 2 / K[i]);
    EXPECT_LT(e1, 0.006) << K[i];
    EXPECT_NEAR(first->values.back()[i], r[i], 4 * e1 + finite) << K[i];
    EXPECT_NEAR(third->values.back()[i], moment, 4 * e3 + 4 * finite) << K[i];
  }
}

/// N<|z|^2> (1 - K/2) = 1 below K_c, so its inverse points to K_c = 2 T.
TEST(Kuramoto, CriticalCoupling) {
  const double K[] = {0, 0.5, 1, 1.5};
  const auto run = run_text(
      "model below\nparam N = 500\nsweep K = [0, 0.5, 1, 1.5]\nsweep path = 1..64\n" + kKuramoto +
          "init x ~ uniform(0, 2*pi)\nevolve srk2, dt = 0.05, until = t > 39.99\n"
          "every 800 steps, after = t > 8: s = "
          "mean(N*(mean(cos(x))^2 + mean(sin(x))^2), over = [path, time]) -> \"k.h5\"\n",
      {});
  const auto* s = run.find("s");
  ASSERT_TRUE(s != nullptr && s->values.back().size() == 4);
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    const double value = s->values.back()[i], error = s->errors.back()[i];
    EXPECT_LT(error / value, 0.08) << K[i];
    // the next order in 1/N: -(K/2 ...)*s^2/N, below 2 per cent here
    EXPECT_NEAR(value * (1 - K[i] / 2), 1, (4 * error) * (1 - K[i] / 2) + 0.02) << K[i];
    sx += K[i], sy += 1 / value, sxx += K[i] * K[i], sxy += K[i] / value;
  }
  const double slope = (4 * sxy - sx * sy) / (4 * sxx - sx * sx), at_zero = (sy - slope * sx) / 4;
  EXPECT_NEAR(-at_zero / slope, 2, 0.12) << "K_c";
}

/// A small z grows or decays with the rate g = K/2 - T on both sides of K_c; the next order, -c z^3
/// with c = K^3/(16 T^2), leads to r^2 = 8 T^2 (K - 2 T)/K^3 near K_c: z^2 = g/(c + (g/z0^2 - c)
/// exp(-2 g t)).
TEST(Kuramoto, GrowthOfTheIncoherentState) {
  const auto run = run_text(
      "model growth\nparam N = 4000\nsweep K = [1, 2.6]\nsweep path = 1..48\n" + kKuramoto +
          "init x[i] = 2*pi*i/N - 0.12*sin(2*pi*i/N)\nevolve srk2, dt = 0.05, until = t > 1.99\n"
          "every 40 steps: z = mean(mean(cos(x)), over = path) -> \"k.h5\"\n",
      {});
  const auto* z = run.find("z");
  ASSERT_TRUE(z != nullptr && z->values.size() >= 2);
  for (std::size_t i = 0; i < 2; ++i) {
    const double K = i == 0 ? 1 : 2.6, g = K / 2 - 1, c = K * K * K / 16;
    const double z0 = z->values.front()[i];
    const double expected = std::sqrt(g / (c + (g / (z0 * z0) - c) * std::exp(-2 * g * 2)));
    EXPECT_LT(z->errors[1][i] / expected, 0.13);
    EXPECT_NEAR(z->values[1][i], expected, 4 * z->errors[1][i] + 0.01 * expected) << K;
  }
}

/// The mean-field Hamiltonian model above its transition, T = 1 in a bath: N<M^2> = 1/(1 - 1/(2
/// T)), U = T/2 + (1 - <M^2>)/2.
TEST(MeanField, FluctuationsAboveTheTransition) {
  const auto r = run_text(
      "model hot\nparam N = 300, T = 1\nsweep path = 1..48\nparticles body: N\n"
      "var theta[k]: angle\n"
      "theta[k]'' = sum(sin(theta[l] - theta[k]), l)/N - theta[k]' + sqrt(2*T)*noise[k]\n"
      "init theta ~ uniform(0, 2*pi), theta' ~ normal\n"
      "evolve baoab, dt = 0.1, until = t > 99.95\nM2 = mean(cos(theta))^2 + mean(sin(theta))^2\n"
      "every 1000 steps, after = t > 20: s = mean(N*M2, over = [path, time]), "
      "U = mean(mean(theta'^2)/2 + (1 - M2)/2, over = [path, time]) -> \"h.h5\"\n",
      {});
  const auto *s = r.find("s"), *U = r.find("U");
  ASSERT_TRUE(s != nullptr && U != nullptr && !s->errors.empty());
  EXPECT_LT(s->errors.back()[0], 0.08);
  EXPECT_NEAR(s->values.back()[0], 2, 4 * s->errors.back()[0] + 6.0 / 300);
  EXPECT_NEAR(U->values.back()[0], 1 - 1.0 / 300, 4 * U->errors.back()[0] + 0.0025);
}

/// A water bag |p| < p0 (1 + a cos theta) of constant density in phase space: M'' = (1/2 - p0^2) M,
/// growth for p0^2 < 1/2 and oscillation beyond, U = 1/2 + p0^2/6 = 7/12.
TEST(MeanField, WaterBagOnBothSidesOfItsLimit) {
  for (const double p0 : {0.5, 0.9}) {
    const auto r =
        run_text("model bag\nparam N = 32768, a = 1e-4, p0 = " + exact(p0) +
                     "\nparticles body: N\nvar theta[k]: angle, p[k]: real\n"
                     "H = sum(p[k]^2/2, k) + sum(1 - cos(theta[k] - theta[l]), k, l)/(2*N)\n"
                     "start[k] = 2*pi*floor(k/128)/256\nslot[k] = (2*mod(k, 128) + 1)/128 - 1\n"
                     "init theta[k] = start[k] - a*sin(start[k])\n"
                     "init p[k] = p0*slot[k]*(1 + a*cos(start[k]))\n"
                     "evolve yoshida4, dt = 0.1, until = t > 5.95\n"
                     "every 10 steps: M = mean(cos(theta)) -> \"b.h5\"\n",
                 {});
    const auto& points = r.find("M")->points;
    const double square = 0.5 - p0 * p0, start = points.front().second;
    for (const auto& [t, value] : points) {
      const double w = std::sqrt(std::abs(square));
      const double expected = square > 0 ? std::cosh(w * t) : std::cos(w * t);
      EXPECT_NEAR(value / start, expected, 0.01 * std::max(1.0, expected)) << p0 << ", t = " << t;
    }
  }
}

}  // namespace
}  // namespace vphi
