// Vacuum fluctuations: the spectrum bin by bin, the planes n_x = 0 and n_x = N/2 too, reality,
// independence of threads, and the normalisation against the continuum.
#include "runtime/run/starts/vacuum.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

namespace vphi::runtime {
namespace {

Vacuum preheating(std::int64_t n) {
  Vacuum v;
  v.box = {{n, n, n}};
  v.dx = 10.0 / static_cast<double>(n);
  v.mass2 = 0.43;
  v.seed = 11;
  return v;
}

struct Power {
  double sum = 0;  ///< of |F_k|^2 over its expectation
  int modes = 0;   ///< independent modes, real ones counted as half
};

/// Powers over the expected ones, by |n| (as whole numbers) or by |n| within one plane n_x.
std::map<int, Power> powers(Vacuum v, int draws, std::int64_t plane) {
  std::map<int, Power> bins;
  const auto rms = vacuum_amplitudes(v, 2);
  const auto n = v.box.n;
  const std::int64_t hx = n[0] / 2 + 1, hy = n[1] / 2 + 1;
  for (int draw = 0; draw < draws; ++draw) {
    v.seed = 100 + draw;
    const auto f = vacuum_field(v, 2);
    std::vector<fft::Complex> modes(v.box.modes());
    fft::forward(v.box, f.data(), modes.data(), 2);
    for (std::int64_t z = 0; z < n[2]; ++z)
      for (std::int64_t y = 0; y < n[1]; ++y)
        for (std::int64_t x = 0; x < hx; ++x) {
          if (plane >= 0 && x != plane) continue;
          const std::int64_t my = std::min(y, n[1] - y), mz = std::min(z, n[2] - z);
          const double expected = std::pow(rms[(mz * hy + my) * hx + x], 2);
          if (expected == 0) continue;
          const auto mode = modes[(z * n[1] + y) * hx + x] / static_cast<double>(v.box.sites());
          const int bin = static_cast<int>(std::lround(std::sqrt(x * x + my * my + mz * mz)));
          // A pair of conjugate modes within one plane is one complex number, seen twice.
          bins[bin].sum += std::norm(mode) / expected;
          bins[bin].modes += 1;
        }
  }
  return bins;
}

/// |F|^2/expected of a complex mode has mean 1 and variance 1; in a symmetric plane each value is
/// seen twice (factor 2), a real mode has variance 2 and is seen once.
void expect_unit_power(const std::map<int, Power>& bins, double copies) {
  for (const auto& [bin, power] : bins) {
    const double mean = power.sum / power.modes;
    EXPECT_NEAR(mean, 1, 5 * std::sqrt(copies / power.modes)) << "bin " << bin;
  }
}

TEST(Vacuum, EveryBinHasItsPower) {
  for (bool kernel : {true, false})
    for (bool velocity : {false, true}) {
      Vacuum v = preheating(24);
      v.kernel_form = kernel, v.velocity = velocity;
      expect_unit_power(powers(v, 30, -1), 2);
    }
}

TEST(Vacuum, SymmetricPlanesHaveFullPower) {
  Vacuum v = preheating(24);
  expect_unit_power(powers(v, 60, 0), 2);
  expect_unit_power(powers(v, 60, 12), 2);
}

TEST(Vacuum, ChiSquaredOfTheSymmetricPlane) {
  // Sum over independent modes of the plane n_x = 0 against the chi-squared distribution: half the
  // power there (a c2r transform that ignores the symmetry) is more than 50 deviations away.
  Vacuum v = preheating(24);
  const int draws = 60;
  double sum = 0;
  int modes = 0;
  for (const auto& [bin, power] : powers(v, draws, 0)) sum += power.sum, modes += power.modes;
  EXPECT_NEAR(sum / modes, 1, 4 * std::sqrt(2.0 / modes));
  EXPECT_EQ(modes, draws * (24 * 24 - 1));
}

TEST(Vacuum, OddAndUnequalBoxes) {
  for (fft::Box box : {fft::Box{{15, 15, 15}}, fft::Box{{16, 10, 21}}, fft::Box{{9, 16, 6}}}) {
    Vacuum v = preheating(16);
    v.box = box;
    expect_unit_power(powers(v, 40, -1), 2);
    expect_unit_power(powers(v, 40, 0), 2);
  }
}

TEST(Vacuum, OneAndTwoDimensions) {
  Vacuum v = preheating(64);
  v.dims = 1, v.box = {{64, 1, 1}};
  expect_unit_power(powers(v, 400, -1), 2);
  v.dims = 2, v.box = {{32, 24, 1}};
  expect_unit_power(powers(v, 100, -1), 2);
}

// <f^2> is the sum over all modes, with each component of k.
TEST(Vacuum, FourDimensionsHaveTheSumOverTheirModes) {
  Vacuum v;
  v.box = {{6, 4, 5, 8}};
  v.dims = 4, v.dx = 0.7, v.mass2 = 0.43, v.kernel_form = false;
  const double sites = static_cast<double>(v.box.sites());
  double expected = 0;
  for (std::int64_t mode = 1; mode < v.box.sites(); ++mode) {
    double k2 = 0;
    std::int64_t rest = mode;
    for (const std::int64_t n : v.box.n) {
      const double wave = 2 * std::numbers::pi *
                          static_cast<double>(std::min(rest % n, n - rest % n)) /
                          (static_cast<double>(n) * v.dx);
      k2 += wave * wave;
      rest /= n;
    }
    expected += 1 / (2 * std::sqrt(k2 + v.mass2)) / (sites * std::pow(v.dx, 4));
  }
  double sum = 0;
  constexpr int kDraws = 300;
  for (int draw = 0; draw < kDraws; ++draw) {
    v.seed = 100 + draw;
    for (const double f : vacuum_field(v, 1)) sum += f * f / sites / kDraws;
  }
  EXPECT_NEAR(sum / expected, 1, 0.02);  // 0.0026 of 288000 modes
}

TEST(Vacuum, KernelFormMeetsTheContinuumTarget) {
  // <|F_k|^2> = (dk/2 pi)^3/(2 omega) exp(-2 (k/kcut)^2), DEFROST 1.0; away from the longest waves,
  // which the kernel averages over the box, and from short ones, where sampling the kernel folds
  // modes back.
  const Vacuum v = preheating(32);
  const auto rms = vacuum_amplitudes(v, 1);
  const double dk = 2 * std::numbers::pi / 10.0, cut = (32.0 / 2 + 1) * dk / 2;
  for (int velocity : {0, 1}) {
    Vacuum w = v;
    w.velocity = velocity != 0;
    const auto amplitudes = vacuum_amplitudes(w, 1);
    for (int n = 2; n <= 9; ++n) {
      const double k = n * dk, omega = std::sqrt(k * k + v.mass2);
      const double target = std::pow(dk / (2 * std::numbers::pi), 3) *
                            (velocity != 0 ? omega / 2 : 1 / (2 * omega)) *
                            std::exp(-2 * k * k / (cut * cut));
      EXPECT_NEAR(amplitudes[n] * amplitudes[n] / target, 1, 0.02) << "n = " << n;
    }
  }
}

TEST(Vacuum, CosmoLatticeReferenceVariance) {
  // Its lphi4 example: N = 32, k_IR = 0.75, sharp cut at k = 4, program units, chi with q = 100 and
  // omega_star/f_star = sqrt(lambda). The number is one realisation of some 320 complex modes, so
  // its own error is 3 %.
  const double dk = 0.75;
  const auto variance = [&](double mass2) {
    Vacuum v;
    v.box = {{32, 32, 32}};
    v.dx = 2 * std::numbers::pi / (32 * dk);
    v.kernel_form = false, v.cutoff = 4, v.mass2 = mass2, v.amplitude = std::sqrt(9e-14);
    const auto rms = vacuum_amplitudes(v, 1);
    double sum = 0;
    for (int z = -15; z <= 16; ++z)
      for (int y = -15; y <= 16; ++y)
        for (int x = -15; x <= 16; ++x)
          sum += std::pow(rms[(std::abs(z) * 17 + std::abs(y)) * 17 + std::abs(x)], 2);
    return std::sqrt(sum);
  };
  EXPECT_NEAR(variance(100), 6.92e-8, 0.05 * 6.92e-8);
}

TEST(Vacuum, ThreadsDoNotChangeTheField) {
  Vacuum v = preheating(20);
  for (const fft::Box& box : {fft::Box{{20, 20, 20}}, fft::Box{{32, 32, 32}}, fft::Box{{15, 9, 7}},
                              fft::Box{{48, 20, 1}}, fft::Box{{210, 1, 1}}})
    for (bool kernel_form : {true, false}) {
      v.box = box, v.kernel_form = kernel_form;
      v.dims = box.n[2] > 1 ? 3 : box.n[1] > 1 ? 2 : 1;
      const auto one = vacuum_field(v, 1);
      for (int threads : {2, 3, 5, 16, 1}) ASSERT_EQ(one, vacuum_field(v, threads)) << threads;
    }
}

TEST(Vacuum, FieldAndVelocityAreIndependent) {
  Vacuum v = preheating(32);
  const auto field = vacuum_field(v, 2);
  v.velocity = true, v.stream = 1;
  const auto velocity = vacuum_field(v, 2);
  double both = 0, one = 0, other = 0;
  for (std::size_t i = 0; i < field.size(); ++i) {
    both += field[i] * velocity[i];
    one += field[i] * field[i], other += velocity[i] * velocity[i];
  }
  EXPECT_LT(std::abs(both) / std::sqrt(one * other), 0.06);
}

TEST(Vacuum, LongWavesStayWhenTheLatticeGetsFiner) {
  Vacuum coarse = preheating(16), fine = preheating(32);
  for (Vacuum* v : {&coarse, &fine}) v->kernel_form = false;
  std::vector<fft::Complex> a(coarse.box.modes()), b(fine.box.modes());
  fft::forward(coarse.box, vacuum_field(coarse, 1).data(), a.data(), 1);
  fft::forward(fine.box, vacuum_field(fine, 1).data(), b.data(), 1);
  for (int y = 0; y < 5; ++y)
    for (int x = 0; x < 5; ++x)
      EXPECT_LT(std::abs(a[y * 9 + x] - b[y * 17 + x] / 8.0), 1e-9 * (1 + std::abs(a[y * 9 + x])));
}

TEST(Vacuum, NegativeMassSquaredCountsAsZero) {
  Vacuum v = preheating(16);
  v.mass2 = -3;
  Vacuum massless = v;
  massless.mass2 = 0;
  EXPECT_EQ(vacuum_field(v, 1), vacuum_field(massless, 1));
}

}  // namespace
}  // namespace vphi::runtime
