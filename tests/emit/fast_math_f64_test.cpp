// Quotients and roots in f64 as emitted into kernels for NVIDIA's GPUs, with seeds that have the
// largest error of a GPU's: errors in the last place, and arguments without a finite result.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>

#define VPHI_INLINE [[maybe_unused]] static inline
#define VPHI_INFINITY std::numeric_limits<double>::infinity()

namespace vphi::emit_test {
namespace {

using vphi_index = long;

double error_of_seed = 0;  ///< relative

/// The upper half of a double, denormal numbers as zero: what a seed takes and gives.
double upper(double a) {
  if (std::fpclassify(a) == FP_SUBNORMAL) return std::copysign(0.0, a);
  std::uint64_t bits = 0;
  std::memcpy(&bits, &a, 8);
  if (!std::isnan(a)) bits &= 0xffffffff00000000ull;
  std::memcpy(&a, &bits, 8);
  return a;
}
double vphi_seed_reciprocal(double a) { return upper(1 / upper(a) * (1 + error_of_seed)); }
double vphi_seed_root(double a) {
  const double u = upper(a);
  return u == 0 ? std::copysign(VPHI_INFINITY, a) : upper(1 / std::sqrt(u) * (1 + error_of_seed));
}
double vphi_signed_as(double a, double b) { return std::signbit(b) ? -a : a; }
int vphi_negative(double a) { return std::signbit(a); }

using vphi_bits = std::int64_t;
vphi_bits vphi_bits_of(double a) {
  vphi_bits bits = 0;
  std::memcpy(&bits, &a, 8);
  return bits;
}
double vphi_of_bits(vphi_bits bits) {
  double a = 0;
  std::memcpy(&a, &bits, 8);
  return a;
}
double vphi_near_inverse(double a) { return vphi_seed_reciprocal(a); }

#include "templates/preludes/choices.txt"

#include "templates/math/near_math_f64.txt"

#include "templates/math/fast_math_lines_f64.txt"
#include "templates/math/least_f64.txt"
#include "templates/math/log_of_unit_f64.txt"

/// |got - exact| in units of the last place of `exact`.
double places(double got, long double exact) {
  int exponent = 0;
  std::frexp(static_cast<double>(exact), &exponent);
  return static_cast<double>(std::fabs(static_cast<long double>(got) - exact) /
                             std::ldexp(1.0L, exponent - 53));
}

/// 20 bits of the argument and of the result are kept, the table of the seed adds some 2^-20: twice
/// that, to both sides.
const double kSeeds[] = {0x1p-18, -0x1p-18, 0x1p-19, 0.0};

TEST(FastMathF64, LastPlace) {
  std::mt19937_64 random(1905);
  std::uniform_real_distribution<double> mantissa(1, 2);
  std::uniform_int_distribution<int> exponent(-400, 400);
  double quotient = 0, root = 0, reciprocal_root = 0;
  for (const double seed : kSeeds) {
    error_of_seed = seed;
    for (int i = 0; i < 500000; ++i) {
      const double a = std::ldexp(mantissa(random), exponent(random)) * (i % 2 ? 1 : -1);
      const double b = std::ldexp(mantissa(random), exponent(random)), c = std::fabs(a);
      const long double A = a, B = b;
      quotient = std::max(quotient, places(vphi_quotient_f64(a, b), A / B));
      quotient = std::max(quotient, places(vphi_quotient_by_f64(a, b, 1 / b), A / B));
      quotient = std::max(quotient, places(vphi_reciprocal_f64(a), 1 / A));
      root = std::max(root, places(vphi_root_f64(b), std::sqrt(B)));
      if (std::fabs(seed) > 0x1p-19) continue;  // three orders in one step, as the toolkit's own
      reciprocal_root = std::max(reciprocal_root,
                                 places(vphi_reciprocal_root_f64(c), 1 / std::sqrt(std::fabs(A))));
    }
  }
  EXPECT_LE(quotient, 0.51);
  EXPECT_LE(root, 0.51);
  EXPECT_LE(reciprocal_root, 1.5);
}

TEST(FastMathF64, ZeroAndInfinity) {
  error_of_seed = 0x1p-18;
  const double inf = VPHI_INFINITY, nan = std::nan(""), tiny = 1e-310;
  EXPECT_EQ(vphi_quotient_f64(1, 0), inf);
  EXPECT_EQ(vphi_quotient_f64(-1, 0), -inf);
  EXPECT_EQ(vphi_quotient_f64(1, -0.0), -inf);
  EXPECT_TRUE(std::isnan(vphi_quotient_f64(0, 0)));
  EXPECT_EQ(vphi_quotient_f64(0, 3), 0);
  EXPECT_EQ(vphi_quotient_f64(2, inf), 0);
  EXPECT_EQ(vphi_quotient_f64(inf, 2), inf);
  EXPECT_TRUE(std::isnan(vphi_quotient_f64(inf, inf)));
  EXPECT_TRUE(std::isnan(vphi_quotient_f64(nan, 2)));
  EXPECT_TRUE(std::isnan(vphi_quotient_f64(2, nan)));
  EXPECT_EQ(vphi_quotient_f64(1e200, 1e-200), inf);
  EXPECT_EQ(vphi_quotient_f64(1, tiny), inf);  // a denormal number is zero
  EXPECT_EQ(vphi_quotient_f64(1e-200, 1e200), 0);
  EXPECT_EQ(vphi_reciprocal_f64(0), inf);
  EXPECT_EQ(vphi_reciprocal_f64(-0.0), -inf);
  EXPECT_EQ(vphi_reciprocal_f64(-inf), 0);
  EXPECT_EQ(vphi_reciprocal_f64(tiny), inf);
  EXPECT_TRUE(std::isnan(vphi_reciprocal_f64(nan)));
  EXPECT_EQ(vphi_root_f64(0), 0);
  EXPECT_EQ(vphi_root_f64(inf), inf);
  EXPECT_LE(vphi_root_f64(tiny), 1e-300);
  EXPECT_TRUE(std::isnan(vphi_root_f64(-1)));
  EXPECT_TRUE(std::isnan(vphi_root_f64(nan)));
  EXPECT_EQ(vphi_reciprocal_root_f64(0), inf);
  EXPECT_EQ(vphi_reciprocal_root_f64(inf), 0);
  EXPECT_TRUE(std::isnan(vphi_reciprocal_root_f64(-1)));
  EXPECT_EQ(vphi_side_f64(-3), -1);
  EXPECT_EQ(vphi_side_f64(1e-300), 1);
  EXPECT_EQ(vphi_side_f64(0), 0);
  EXPECT_EQ(vphi_side_f64(nan), 0);
}

TEST(FastMathF64, TheLeastOfThree) {
  std::mt19937_64 random(7);
  std::uniform_int_distribution<int> value(-3, 3);
  for (int i = 0; i < 5000; ++i) {
    const double a = value(random), b = value(random), c = value(random);
    const double bounds =
        std::max(std::min(0.0, std::max(b, c)), std::min(a, std::max(0.0, std::min(b, c))));
    EXPECT_EQ(vphi_least_f64(a, b, c), bounds) << a << " " << b << " " << c;
    const double sum = std::max(0.0, std::min({a, b, c})) + std::min(0.0, std::max({a, b, c}));
    EXPECT_EQ(vphi_least_f64(a, b, c), sum) << a << " " << b << " " << c;
  }
}

// All that a draw can be: (word + 1/2)/2^32.
TEST(FastMathF64, LogarithmOfADraw) {
  std::mt19937_64 random(1988);
  double worst = 0;
  for (const double seed : kSeeds) {
    error_of_seed = seed;
    const auto check = [&](std::uint32_t word) {
      const double u = (static_cast<double>(word) + 0.5) * 0x1p-32;
      worst =
          std::max(worst, places(vphi_log_of_unit_f64(u), std::log(static_cast<long double>(u))));
    };
    for (std::uint32_t near = 0; near < 1000; ++near) {
      check(near);
      check(0xffffffffu - near);
      check(0x80000000u + near);
      check(0xb504f333u - 500 + near);  // around the root of 1/2
    }
    for (int bits = 0; bits < 32; ++bits)
      for (int i = 0; i < 20000; ++i) check(static_cast<std::uint32_t>(random()) >> bits);
  }
  EXPECT_LT(worst, 1.4);
}

}  // namespace
}  // namespace vphi::emit_test
