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

/// f_a v_a = Re tr(K dM), with dV V^-1 = i v_a T_a by differences along dM.
TEST(Projection, DerivativeIsTransposed) {
  algebra::Arena arena;
  Numbers numbers(arena);
  for (int n = 1; n <= 3; ++n) {
    const Group group{n == 1 ? Kind::U1 : Kind::SU, n};
    const int count = group.generators();
    for (int k = 0; k < 4; ++k) {
      // the last has the eigenvalues of M^+ M equal
      const Dense m =
          k < 3 ? numbers.element(n) + C(0.4) * numbers.element(n) + C(0.1 * k) * numbers.any(n)
                : C(1.3) * numbers.element(n);
      const Dense dm = numbers.any(n);
      std::vector<Expr> f;
      std::vector<double> weights;
      for (int a = 0; a < count; ++a) {
        weights.push_back(std::cos(1.0 + a + k));
        f.push_back(arena.real(weights.back()));
      }
      const auto image = [&](double e) {
        return numbers.of(projected(group, numbers.matrix(m + C(e) * dm)));
      };
      const Dense v = image(0);
      const Dense kernel =
          numbers.of(carried_projection(group, numbers.matrix(m), numbers.matrix(v), f));
      const double e = 1e-3;
      const Dense slope = C(1 / (12 * e)) * (C(8) * (image(e) + C(-1) * image(-e)) +
                                             C(-1) * image(2 * e) + image(-2 * e));
      const Matrix rate = numbers.matrix(slope * dagger(v));
      const std::vector<Expr> coordinates = projection(group, rate);
      double along = 0;  // Im tr(T_a A) is v_a/2 but for U(1)
      for (int a = 0; a < count; ++a)
        along += weights[static_cast<std::size_t>(a)] * (n == 1 ? 1 : 2) *
                 numbers.of(coordinates[static_cast<std::size_t>(a)]);
      EXPECT_NEAR(trace(kernel * dm).real(), along, 1e-9 * (1 + std::abs(along))) << n << " " << k;
    }
  }
}

}  // namespace
}  // namespace vphi::gauge
