// The projection to a group against its definition: a unitary matrix of determinant 1 that leaves a
// positive hermitian factor, up to a phase of its n-th root.
#include "compiler/gauge/projected.hpp"

#include <gtest/gtest.h>

#include <numbers>

#include "tests/gauge/numbers.hpp"

namespace vphi::gauge {
namespace {

using testing::C;
using testing::Dense;
using testing::distance;
using testing::Numbers;

void expect_projection(const Dense& m, const Dense& u, double within) {
  EXPECT_LT(distance(u * dagger(u), testing::one(u.n)), 1e-14);
  if (u.n > 1) {
    EXPECT_LT(std::abs(testing::determinant(u) - C(1)), 1e-14);
  }
  // U^+ M = exp(i a) H with H hermitian and positive, |a| <= pi/n
  const Dense rest = dagger(u) * m;
  const double a = std::arg(trace(rest));
  const Dense h = std::exp(C(0, -a)) * rest;
  EXPECT_LE(std::abs(a), std::numbers::pi / u.n + within);
  EXPECT_LT(distance(h, dagger(h)), within * (1 + std::abs(trace(h))));
  EXPECT_GT(trace(h).real(), 0);
  EXPECT_GT(std::abs(testing::determinant(h)), 0);
  if (u.n == 1) {
    EXPECT_NEAR(a, 0, within);
  }
}

TEST(Projection, IsThePolarFactor) {
  algebra::Arena arena;
  Numbers numbers(arena);
  for (int n = 1; n <= 3; ++n) {
    const Group group{n == 1 ? Kind::U1 : Kind::SU, n};
    ASSERT_TRUE(has_projection(group));
    for (int k = 0; k < 20; ++k) {
      // a sum of group elements, as smearing has it
      const Dense m =
          C(0.5) * numbers.element(n) + C(0.3) * numbers.element(n) + C(0.4) * numbers.element(n);
      expect_projection(m, numbers.of(projected(group, numbers.matrix(m))), 1e-11);
    }
    const Dense one = testing::one(n);
    EXPECT_LT(distance(numbers.of(projected(group, numbers.matrix(C(2.5) * one))), one), 1e-14);
    const Dense u = numbers.element(n);
    EXPECT_LT(distance(numbers.of(projected(group, numbers.matrix(C(0.1) * u))), u), 1e-13);
  }
  EXPECT_FALSE(has_projection({Kind::SU, 4}));
}

TEST(Projection, TurnsWithTheGauge) {
  algebra::Arena arena;
  Numbers numbers(arena);
  for (int n = 2; n <= 3; ++n) {
    const Group group{Kind::SU, n};
    const Dense m = numbers.element(n) + C(0.7) * numbers.element(n) + C(0.2) * numbers.any(n);
    const Dense g = numbers.element(n), h = numbers.element(n);
    const Dense left = numbers.of(projected(group, numbers.matrix(g * m * dagger(h))));
    const Dense right = g * numbers.of(projected(group, numbers.matrix(m))) * dagger(h);
    EXPECT_LT(distance(left, right), 1e-11);
  }
}

}  // namespace
}  // namespace vphi::gauge
