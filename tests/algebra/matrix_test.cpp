// Numbers of small matrices against closed forms.
#include "compiler/algebra/matrix.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

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

}  // namespace
}  // namespace vphi::algebra
