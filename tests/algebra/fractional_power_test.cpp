// Rational functions for powers: poles and residues of Zolotarev's function and of another power in
// 40 decimal digits, and errors by degree and range (relative, equal ripples).
#include "compiler/algebra/fractional_power.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace vphi::algebra {
namespace {

struct Expected {
  long double p, error, constant;
  std::vector<long double> poles, residues;
};

TEST(FractionalPower, PolesAndResidues) {
  const std::vector<Expected> known = {
      {0.5L,
       1.6104659754e-6L,
       0.213883256070747L,
       {0.001172319032191315L, 0.01417715160264414L, 0.06905519036262884L, 0.3091882715224384L,
        1.905998917389555L},
       {0.04524106956990348L, 0.0669832569525756L, 0.1243575164811256L, 0.2765230243436451L,
        1.009374052694394L}},
      {0.25L,
       1.10063757e-6L,
       0.4835531549538583L,
       {0.0019547044890918L, 0.017723418075681L, 0.083169970222641L, 0.37487859206455L,
        2.5174360239498L},
       {0.0068276989231242L, 0.018452110435729L, 0.051438746986163L, 0.17149051862387L,
        1.123055146906L}}};
  for (const Expected& expected : known) {
    const auto r = inverse_power(expected.p, 0.01L, 1, 5);
    ASSERT_TRUE(r);
    EXPECT_NEAR(r->error / expected.error, 1, 1e-6);
    EXPECT_NEAR(r->constant / expected.constant, 1, 1e-9);
    for (std::size_t k = 0; k < 5; ++k) {
      EXPECT_NEAR(r->poles[k] / expected.poles[k], 1, 2e-9) << k;
      EXPECT_NEAR(r->residues[k] / expected.residues[k], 1, 2e-9) << k;
    }
  }
}

struct PowerRow {
  long double p, eps;
  int n;
  double error;
};

TEST(FractionalPower, Errors) {
  for (const PowerRow& row :
       {PowerRow{0.5L, 1e-2L, 4, 2.34e-5}, PowerRow{0.5L, 1e-2L, 12, 1.17e-14},
        PowerRow{0.5L, 1e-3L, 8, 1.19e-7}, PowerRow{0.5L, 1e-4L, 16, 6.28e-12},
        PowerRow{0.5L, 1e-6L, 20, 1.02e-10}, PowerRow{0.25L, 1e-2L, 6, 7.61e-8},
        PowerRow{0.25L, 1e-4L, 10, 8.55e-8}, PowerRow{0.125L, 1e-4L, 6, 3.30e-5},
        PowerRow{0.75L, 1e-2L, 6, 8.21e-8}, PowerRow{0.75L, 1e-4L, 10, 8.97e-8}}) {
    SCOPED_TRACE(static_cast<double>(row.p));
    const auto r = inverse_power(row.p, row.eps, 1, row.n);
    ASSERT_TRUE(r);
    EXPECT_NEAR(static_cast<double>(r->error) / row.error, 1, 5e-3);
    for (const long double pole : r->poles) EXPECT_GT(pole, 0);
    for (const long double residue : r->residues) EXPECT_GT(residue, 0);
  }
}

/// The sum of fractions is the power on any range, and the two powers are inverse to each other.
TEST(FractionalPower, OnAnyRange) {
  const long double low = 0.03L, high = 7;
  for (const long double p : {0.5L, 1 / 3.0L, 0.125L, 0.8L}) {
    const auto down = inverse_power(p, low, high, 8), up = direct_power(p, low, high, 8);
    ASSERT_TRUE(down && up);
    EXPECT_LT(down->error, 1e-7);
    for (int i = 0; i <= 200; ++i) {
      const long double z = low * std::pow(high / low, i / 200.0L);
      EXPECT_LE(std::fabs((*down)(z)*std::pow(z, p) - 1), 1.01L * down->error);
      EXPECT_LE(std::fabs((*up)(z)*std::pow(z, -p) - 1), 1.01L * up->error);
    }
  }
}

TEST(FractionalPower, NothingOutside) {
  EXPECT_FALSE(inverse_power(1, 0.1L, 1, 4));
  EXPECT_FALSE(inverse_power(0.5L, 0, 1, 4));
  EXPECT_FALSE(inverse_power(0.5L, 2, 1, 4));
  EXPECT_FALSE(inverse_power(0.5L, 0.1L, 1, 0));
}

}  // namespace
}  // namespace vphi::algebra
