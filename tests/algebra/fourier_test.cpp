// Fourier polynomials of pair functions against coefficients known in closed form.
#include <gtest/gtest.h>

#include <cmath>

#include "compiler/algebra/fourier.hpp"
#include "compiler/algebra/pairs.hpp"
#include "tests/algebra/reader.hpp"

namespace vphi::algebra {
namespace {

class Fourier : public ::testing::Test {
 protected:
  Expr n(std::int64_t value) { return arena.integer(value); }
  Expr cosine(Expr d) { return arena.make(Op::Cos, {d}); }
  Expr sine(Expr d) { return arena.make(Op::Sin, {d}); }

  Arena arena;
  Expr x = arena.load(0), y = other(arena.load(0)), d = x - y;
};

/// Poisson's kernel: (1 - q^2)/(1 - 2 q cos d + q^2) = 1 + 2 sum_k q^k cos(k d).
TEST_F(Fourier, PoissonKernel) {
  const Expr q = arena.rational(3, 5);
  const Expr g = (n(1) - q * q) / (n(1) + q * q - n(2) * q * cosine(d));
  const auto found = fourier_series(g, 1e-12, 256);
  ASSERT_TRUE(std::holds_alternative<Series>(found));
  const Series& s = std::get<Series>(found);
  // the sum of what is left out is 2 q^(K+1)/(1-q) of a largest value of (1+q)/(1-q) = 4
  const double needed = std::log(1e-12 * 4 * 0.4 / 2) / std::log(0.6);
  EXPECT_NEAR(s.modes(), needed, 2);
  for (int k = 0; k <= s.modes(); ++k) {
    const auto i = static_cast<std::size_t>(k);
    EXPECT_NEAR(static_cast<double>(s.cosine[i]), (k ? 2 : 1) * std::pow(0.6, k), 1e-15) << k;
    EXPECT_EQ(s.sine[i], 0) << k;
  }
  EXPECT_LE(s.bound, 1e-12L);
}

/// q sin d/(1 - 2 q cos d + q^2) = sum_k q^k sin(k d), and the bound holds everywhere.
TEST_F(Fourier, OddFunctionAndItsBound) {
  const Expr q = arena.rational(4, 5);
  const Expr g = q * sine(d) / (n(1) + q * q - n(2) * q * cosine(d));
  for (const double tolerance : {1e-3, 1e-7, 1e-13}) {
    const auto found = fourier_series(g, tolerance, 256);
    ASSERT_TRUE(std::holds_alternative<Series>(found)) << tolerance;
    const Series& s = std::get<Series>(found);
    long double worst = 0, largest = 0;
    for (int i = 0; i < 1000; ++i) {
      const long double a = 0.00628318530717958647692L * i;
      const long double exact = 0.8L * std::sin(a) / (1.64L - 1.6L * std::cos(a));
      long double sum = 0;
      for (int k = 0; k <= s.modes(); ++k) {
        const auto j = static_cast<std::size_t>(k);
        sum += s.cosine[j] * std::cos(k * a) + s.sine[j] * std::sin(k * a);
      }
      worst = std::max(worst, std::fabs(sum - exact));
      largest = std::max(largest, std::fabs(exact));
    }
    EXPECT_LE(worst, tolerance * largest);
    EXPECT_LE(worst, s.bound * largest * 1.001L + 1e-17L);
    EXPECT_GT(worst, 1e-3L * static_cast<long double>(tolerance) * largest) << "far too many modes";
  }
}

TEST_F(Fourier, WhatHasNoSeries) {
  const auto why = [](const std::variant<Series, NoSeries>& found) {
    return std::get<NoSeries>(found).why;
  };
  EXPECT_EQ(why(fourier_series(d * d, 1e-6, 256)), NoSeries::Why::NotPeriodic);
  EXPECT_EQ(why(fourier_series(cosine(d / n(2)), 1e-6, 256)), NoSeries::Why::NotPeriodic);
  EXPECT_EQ(why(fourier_series(cosine(x * y), 1e-6, 256)), NoSeries::Why::NotADifference);
  EXPECT_EQ(why(fourier_series(cosine(d) * arena.symbol("K"), 1e-6, 256)), NoSeries::Why::Open);
  EXPECT_EQ(why(fourier_series(arena.make(Op::Abs, {sine(d)}), 1e-6, 256)), NoSeries::Why::Rough);
  EXPECT_EQ(why(fourier_series(n(1) / (n(1) - cosine(d)), 1e-6, 256)), NoSeries::Why::Singular);
  const Expr z = arena.load(1);
  EXPECT_EQ(why(fourier_series(cosine(d) * (z - other(z)), 1e-6, 256)),
            NoSeries::Why::NotADifference);
}

}  // namespace
}  // namespace vphi::algebra
