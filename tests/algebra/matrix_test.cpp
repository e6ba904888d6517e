// Numbers of small matrices against closed forms.
#include "compiler/algebra/matrix.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <utility>

namespace vphi::algebra {
namespace {

TEST(Matrix, SpectralRadius) {
  const double c = std::cos(0.3), s = std::sin(0.3);
  const struct {
    const char* what;
    Matrix matrix;
    double radius;
  } rows[] = {
      {"diagonal", {{-3, 0}, {0, 2}}, 3},
      {"symmetric: 2 +- 1", {{2, 1}, {1, 2}}, 3},
      {"a turn, half as long: a complex pair", {{0.5 * c, -0.5 * s}, {0.5 * s, 0.5 * c}}, 0.5},
      {"a Jordan block: powers grow by a polynomial", {{1, 1}, {0, 1}}, 1},
      {"nilpotent", {{0, 7}, {0, 0}}, 0},
      {"nothing", {{0}}, 0},
  };
  for (const auto& row : rows) {
    EXPECT_NEAR(spectral_radius(row.matrix, 24), row.radius, 1e-5) << row.what;
    EXPECT_NEAR(spectral_radius(row.matrix, 10), row.radius, 0.01 * row.radius) << row.what;
  }
  EXPECT_TRUE(std::isinf(spectral_radius({{std::numeric_limits<double>::quiet_NaN()}}, 24)));
}

TEST(Matrix, Product) {
  EXPECT_EQ(product({{1, 2}, {3, 4}}, {{0, 1}, {1, 0}}), (Matrix{{2, 1}, {4, 3}}));
  EXPECT_EQ(largest_entry({{1, -5}, {3, 4}}), 5);
}

TEST(Matrix, Eigenvalues) {
  const auto sorted = [](const Matrix& m) {
    auto found = eigenvalues(m);
    std::ranges::sort(found, [](auto a, auto b) {
      return std::pair(std::round(a.real() * 1e9), a.imag()) <
             std::pair(std::round(b.real() * 1e9), b.imag());
    });
    return found;
  };
  const auto pair = sorted({{0, 1}, {-0.2, 0}});
  ASSERT_EQ(pair.size(), 2U);
  EXPECT_NEAR(pair[1].imag(), std::sqrt(0.2), 1e-14);
  // the companion matrix of (x - 1)(x + 2)(x^2 - x + 5/4)(x - 3)
  const auto five = sorted({{3, 1.75, -8.5, 12.25, -7.5},
                            {1, 0, 0, 0, 0},
                            {0, 1, 0, 0, 0},
                            {0, 0, 1, 0, 0},
                            {0, 0, 0, 1, 0}});
  ASSERT_EQ(five.size(), 5U);
  const std::complex<double> roots[] = {-2, {0.5, -1}, {0.5, 1}, 1, 3};
  for (std::size_t i = 0; i < 5; ++i) EXPECT_LT(std::abs(five[i] - roots[i]), 1e-12) << i;
  for (const auto value : eigenvalues({{1, 1, 0}, {0, 1, 1}, {0, 0, 1}}))
    EXPECT_LT(std::abs(value - 1.0), 1e-4);
  EXPECT_TRUE(eigenvalues({{std::nan(""), 0}, {0, 1}}).empty());
}

}  // namespace
}  // namespace vphi::algebra
