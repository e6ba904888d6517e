// Quotients, roots and powers that kernels write out in f32, as emitted, with seeds that have the
// largest error of a GPU's: errors in the last place, and arguments without a finite result.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#define VPHI_INLINE [[maybe_unused]] static inline
#define VPHI_INFINITY std::numeric_limits<double>::infinity()

namespace vphi::emit_test {
namespace {

using std::fabs;
using std::fma;
using std::rint;
using vphi_index = long;

int wrong = 0;  ///< units of the last place that a seed is off

float flushed(float a) { return std::fpclassify(a) == FP_SUBNORMAL ? std::copysign(0.0F, a) : a; }
float moved(double exact) {
  float seed = static_cast<float>(exact);
  for (int i = 0; i < std::abs(wrong) && std::isfinite(seed); ++i)
    seed = std::nextafter(seed, wrong > 0 ? INFINITY : -INFINITY);
  return flushed(seed);
}
float vphi_seed_reciprocal_f32(float a) {
  const float b = flushed(a);
  return b == 0 || !std::isfinite(b) ? 1 / b : moved(1.0 / b);
}
float vphi_seed_root_f32(float a) {
  const float b = flushed(a);
  return b == 0 || !std::isfinite(b) ? 1 / std::sqrt(b) : moved(1 / std::sqrt(double(b)));
}

/// The seeds of a power are off by 2^-22 at most: of log2 absolutely, of the power relatively.
float vphi_seed_log2_f32(float a) {
  return static_cast<float>(std::log2(double(a)) + wrong * std::ldexp(1.0, -23));
}
float vphi_seed_exp2_f32(float a) {
  return static_cast<float>(std::exp2(double(a)) * (1 + wrong * std::ldexp(1.0, -23)));
}
int vphi_power_of_two_in_f32(float a) {
  return (std::bit_cast<std::int32_t>(a) - 0x3f3504f3) >> 23;
}
float vphi_without_power_f32(float a, int k) {
  return std::bit_cast<float>(std::bit_cast<std::int32_t>(a) - k * 8388608);
}
float vphi_two_to_f32(int k) { return std::ldexp(1.0F, k); }

#include "templates/preludes/choices.txt"

using std::copysign;
#include "templates/math/angle_f32.txt"

#include "templates/math/near_math_f32.txt"

/// |got - exact| in units of the last place of `exact`.
double places(float got, double exact) {
  int exponent = 0;
  std::frexp(exact, &exponent);
  return std::fabs(got - exact) / std::ldexp(1.0, exponent - 24);
}

TEST(NearMathF32, LastPlace) {
  std::mt19937 random(1905);
  std::uniform_real_distribution<float> mantissa(1, 2);
  std::uniform_int_distribution<int> exponent(-50, 50);
  const auto number = [&] { return std::ldexp(mantissa(random), exponent(random)); };
  double quotient = 0, known = 0, root = 0, reciprocal_root = 0;
  for (wrong = -2; wrong <= 2; ++wrong) {
    for (int i = 0; i < 200000; ++i) {
      const float a = i % 2 == 0 ? number() : -number(), b = number();
      const double A = a, B = b;
      // a unit of the seed in the last place is up to two of the quotient, whose mantissa may be
      // smaller than that of the seed
      if (std::abs(wrong) <= 1)
        quotient = std::max(quotient, places(vphi_quotient_near_f32(a, b), A / B));
      known = std::max(known, places(vphi_quotient_by_f32(a, b, static_cast<float>(1 / B)), A / B));
      root = std::max(root, places(vphi_root_near_f32(b), std::sqrt(B)));
      reciprocal_root =
          std::max(reciprocal_root, places(vphi_reciprocal_root_near_f32(b), 1 / std::sqrt(B)));
    }
  }
  EXPECT_LE(quotient, 3.5);
  EXPECT_GT(quotient, 1.0);  // a seed's error is seen
  EXPECT_LE(known, 0.501);
  EXPECT_LE(root, 0.501);
  EXPECT_LE(reciprocal_root, 1.0);
  EXPECT_GT(reciprocal_root, 0.4);  // it has looked at numbers that have no f32
}

TEST(NearMathF32, AnglesOfVectors) {
  std::mt19937 random(1979);
  std::uniform_real_distribution<double> turn(-M_PI, M_PI);
  std::uniform_int_distribution<int> exponent(-40, 40);
  double angle = 0, small = 0;
  for (wrong = -2; wrong <= 2; ++wrong) {
    for (int i = 0; i < 200000; ++i) {
      const double at = i % 3 == 0 ? turn(random) * std::ldexp(1.0, -i % 20) : turn(random);
      const double length = std::ldexp(1.0, exponent(random));
      const auto y = static_cast<float>(length * std::sin(at));
      const auto x = static_cast<float>(length * std::cos(at));
      angle = std::max(angle, places(vphi_atan2_near_f32(y, x), std::atan2(double(y), double(x))));
      small =
          std::max(small, std::fabs(vphi_atan2_near_f32(y, x) - std::atan2(double(y), double(x))));
    }
  }
  wrong = 0;
  EXPECT_LT(angle, 7);
  EXPECT_LT(small, 4e-7);
  for (const float y : {0.0F, -0.0F, 2.0F, -2.0F})
    for (const float x : {0.0F, 3.0F, -3.0F})
      EXPECT_NEAR(vphi_atan2_near_f32(y, x), std::atan2(y, x), 4e-7) << y << " " << x;
}

TEST(NearMathF32, PowersFromMinusOneToOne) {
  std::mt19937 random(1614);
  std::uniform_real_distribution<float> mantissa(1, 2), power(-1, 1);
  std::uniform_int_distribution<int> exponent(-140, 127);
  double worst = 0;
  for (wrong = -2; wrong <= 2; ++wrong) {
    for (int i = 0; i < 200000; ++i) {
      const float a = std::ldexp(mantissa(random), exponent(random)), y = power(random);
      const double exact = std::pow(double(a), double(y));
      if (exact > 3e38 || exact < 1.2e-38) continue;
      worst = std::max(worst, places(vphi_power_near_f32(a, y), exact));
    }
  }
  EXPECT_LE(worst, 8.0);  // of the largest errors that seeds may have, all of one sign
  EXPECT_GT(worst, 2.0);
  wrong = 0;
  EXPECT_EQ(vphi_power_near_f32(16, 0.25F), 2);
  EXPECT_EQ(vphi_power_near_f32(0, 0.3F), 0);
  EXPECT_EQ(vphi_power_near_f32(0, -0.3F), INFINITY);
  EXPECT_EQ(vphi_power_near_f32(INFINITY, 0.3F), INFINITY);
  EXPECT_EQ(vphi_power_near_f32(INFINITY, -0.3F), 0);
  EXPECT_NEAR(vphi_power_near_f32(1e-40F, 0.5F) / 1e-20, 1, 1e-4);
  EXPECT_TRUE(std::isnan(vphi_power_near_f32(-1, 0.3F)));
  EXPECT_TRUE(std::isnan(vphi_power_near_f32(NAN, 0.3F)));
}

TEST(NearMathF32, EndsOfTheRange) {
  const float inf = INFINITY, nan = NAN, tiny = 1e-40F, least = 1.4e-45F, huge = 3e38F;
  wrong = 1;
  EXPECT_EQ(vphi_quotient_near_f32(1, 0), inf);
  EXPECT_EQ(vphi_quotient_near_f32(-1, 0), -inf);
  EXPECT_EQ(vphi_quotient_near_f32(1, -0.0F), -inf);
  EXPECT_TRUE(std::isnan(vphi_quotient_near_f32(0, 0)));
  EXPECT_EQ(vphi_quotient_near_f32(0, 3), 0);
  EXPECT_EQ(vphi_quotient_near_f32(0, tiny), 0);
  EXPECT_EQ(vphi_quotient_near_f32(0, least), 0);
  EXPECT_NEAR(vphi_quotient_near_f32(3e-40F, tiny), 3, 1e-4);
  EXPECT_EQ(vphi_quotient_near_f32(1, tiny), inf);
  EXPECT_EQ(vphi_quotient_near_f32(2, inf), 0);
  EXPECT_EQ(vphi_quotient_near_f32(inf, 2), inf);
  EXPECT_EQ(vphi_quotient_near_f32(huge, 1e-10F), inf);
  EXPECT_EQ(vphi_quotient_near_f32(1, huge), 0);
  EXPECT_EQ(vphi_quotient_near_f32(1e-30F, 1e30F), 0);
  EXPECT_TRUE(std::isnan(vphi_quotient_near_f32(inf, inf)));
  EXPECT_TRUE(std::isnan(vphi_quotient_near_f32(nan, 2)));
  EXPECT_TRUE(std::isnan(vphi_quotient_near_f32(2, nan)));
  EXPECT_EQ(vphi_quotient_by_f32(inf, 3, 1.0F / 3), inf);
  EXPECT_TRUE(std::isnan(vphi_quotient_by_f32(nan, 3, 1.0F / 3)));
  EXPECT_EQ(vphi_root_near_f32(0), 0);
  EXPECT_EQ(vphi_root_near_f32(inf), inf);
  EXPECT_LE(vphi_root_near_f32(tiny), 1e-37F);
  EXPECT_TRUE(std::isnan(vphi_root_near_f32(-1)));
  EXPECT_TRUE(std::isnan(vphi_root_near_f32(nan)));
  EXPECT_EQ(vphi_reciprocal_root_near_f32(0), inf);
  EXPECT_EQ(vphi_reciprocal_root_near_f32(inf), 0);
  EXPECT_TRUE(std::isnan(vphi_reciprocal_root_near_f32(-1)));
}

}  // namespace
}  // namespace vphi::emit_test
