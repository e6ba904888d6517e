// Groups against dense complex arithmetic and the Gell-Mann matrices as printed in textbooks.
#include "compiler/gauge/group.hpp"

#include <gtest/gtest.h>

#include <array>

#include "tests/gauge/numbers.hpp"

namespace vphi::gauge {
namespace {

using testing::C;
using testing::Dense;
using testing::distance;
using testing::Numbers;

const Group kGroups[] = {{Kind::U1, 1}, {Kind::SU, 2}, {Kind::SU, 3}, {Kind::SU, 4}, {Kind::SU, 6}};

std::vector<Expr> normals(Numbers& numbers, int count, double width = 1) {
  std::vector<Expr> result;
  for (int i = 0; i < count; ++i) result.push_back(numbers.value(width * numbers.normal()));
  return result;
}

void expect_in_group(const Dense& u, double tolerance) {
  EXPECT_LT(distance(u * dagger(u), testing::one(u.n)), tolerance);
  if (u.n > 1) {
    EXPECT_LT(std::abs(testing::determinant(u) - C(1)), tolerance);
  }
}

TEST(Group, MatricesAreMatrices) {
  Arena arena;
  Numbers numbers(arena);
  for (int n = 1; n <= 6; ++n) {
    const Dense a = numbers.any(n), b = numbers.any(n);
    const Matrix x = numbers.matrix(a), y = numbers.matrix(b);
    EXPECT_LT(distance(numbers.of(times(x, y)), a * b), 1e-13);
    EXPECT_LT(distance(numbers.of(minus(x, adjoint(y))), a + C(-1) * dagger(b)), 1e-13);
    EXPECT_LT(std::abs(numbers.of(trace_of_product(x, y)) - trace(a * b)), 1e-13);
    EXPECT_LT(std::abs(numbers.of(determinant(x)) - testing::determinant(a)), 1e-10);
    Dense ta = C(0.5) * (a + C(-1) * dagger(a));
    if (n > 1) ta = ta + (-trace(ta) / static_cast<double>(n)) * testing::one(n);
    EXPECT_LT(distance(numbers.of(traceless_antihermitian(x)), ta), 1e-13);
  }
}

/// A product of SU(2) matrices costs what a product of quaternions does, its adjoint nothing.
TEST(Group, LowerRowsOfSU2AreFree) {
  Arena arena;
  Numbers numbers(arena);
  const LinkType type{{Kind::SU, 2}, Storage::Quaternion};
  const Matrix u = load(type, normals(numbers, 4)), v = load(type, normals(numbers, 4)),
               w = load(type, normals(numbers, 4));
  EXPECT_EQ(testing::operations(testing::parts(times(u, v))), 16 + 12);
  EXPECT_EQ(testing::operations(testing::parts(times(times(u, adjoint(v)), w))), 2 * (16 + 12));
}

TEST(Group, StorageKeepsLinks) {
  Arena arena;
  Numbers numbers(arena);
  const LinkType types[] = {{{Kind::U1, 1}, Storage::Angle},      {{Kind::U1, 1}, Storage::Full},
                            {{Kind::SU, 2}, Storage::Quaternion}, {{Kind::SU, 2}, Storage::Rows},
                            {{Kind::SU, 2}, Storage::Full},       {{Kind::SU, 3}, Storage::Rows},
                            {{Kind::SU, 3}, Storage::Full},       {{Kind::SU, 5}, Storage::Full}};
  for (const LinkType& type : types) {
    ASSERT_TRUE(type.valid());
    const Dense u = numbers.element(type.group.n);
    const std::vector<Expr> stored = store(type, numbers.matrix(u));
    EXPECT_EQ(static_cast<int>(stored.size()), type.reals());
    EXPECT_LT(distance(numbers.of(load(type, stored)), u), 1e-14);
  }
  EXPECT_EQ((LinkType{{Kind::SU, 3}, Storage::Rows}.reals()), 12);
  EXPECT_FALSE((LinkType{{Kind::SU, 4}, Storage::Rows}.valid()));
  EXPECT_FALSE((LinkType{{Kind::SU, 3}, Storage::Quaternion}.valid()));
}

/// tr(T_a T_b) = delta_ab/2, and lambda_1 ... lambda_8 as they are printed.
TEST(Group, Generators) {
  Arena arena;
  Numbers numbers(arena);
  for (const Group& group : kGroups) {
    std::vector<Dense> t;
    for (int a = 0; a < group.generators(); ++a) {
      std::vector<Expr> p(static_cast<std::size_t>(group.generators()), arena.integer(0));
      p[static_cast<std::size_t>(a)] = arena.integer(1);
      t.push_back(C(0, -1) * numbers.of(algebra_element(group, p)));
    }
    const double norm = group.kind == Kind::U1 ? 1 : 0.5;
    for (std::size_t a = 0; a < t.size(); ++a) {
      EXPECT_LT(distance(t[a], dagger(t[a])), 1e-15);
      for (std::size_t b = 0; b < t.size(); ++b)
        EXPECT_NEAR(std::abs(trace(t[a] * t[b]) - (a == b ? norm : 0.0)), 0, 1e-15);
    }
    if (group != Group{Kind::SU, 3}) continue;
    const C i(0, 1);
    const double s = 1 / std::sqrt(3.0);
    const std::array<std::array<C, 9>, 8> lambda{{{0, 1, 0, 1, 0, 0, 0, 0, 0},
                                                  {0, -i, 0, i, 0, 0, 0, 0, 0},
                                                  {1, 0, 0, 0, -1, 0, 0, 0, 0},
                                                  {0, 0, 1, 0, 0, 0, 1, 0, 0},
                                                  {0, 0, -i, 0, 0, 0, i, 0, 0},
                                                  {0, 0, 0, 0, 0, 1, 0, 1, 0},
                                                  {0, 0, 0, 0, 0, -i, 0, i, 0},
                                                  {s, 0, 0, 0, s, 0, 0, 0, -2 * s}}};
    for (std::size_t a = 0; a < 8; ++a)
      for (std::size_t k = 0; k < 9; ++k)
        EXPECT_NEAR(std::abs(2.0 * t[a].v[k] - lambda[a][k]), 0, 1e-15) << a << " " << k;
  }
}

TEST(Group, ProjectionFindsCoordinates) {
  Arena arena;
  Numbers numbers(arena);
  for (const Group& group : kGroups) {
    const std::vector<Expr> p = normals(numbers, group.generators());
    const auto found = numbers.of(projection(group, algebra_element(group, p)));
    const double norm = group.kind == Kind::U1 ? 1 : 0.5;
    for (std::size_t a = 0; a < p.size(); ++a)
      EXPECT_NEAR(found[a], norm * numbers.of(p[a]), 1e-14);
    // i T_a Im tr(T_a W) is TA(W)/2 (TA(W) for U(1))
    const Matrix w = numbers.matrix(numbers.any(group.n));
    const Dense from_coordinates = numbers.of(algebra_element(group, projection(group, w)));
    const Dense ta = numbers.of(traceless_antihermitian(w));
    EXPECT_LT(distance(from_coordinates, C(norm) * ta), 1e-14);
  }
}

TEST(Group, Exponential) {
  Arena arena;
  Numbers numbers(arena);
  for (const Group& group : kGroups) {
    for (const double width : {0.0, 1e-9, 0.1, 0.5}) {
      const std::vector<Expr> p = normals(numbers, group.generators(), width);
      const Dense a = numbers.of(algebra_element(group, p));
      const int terms = exponential_terms(1e-17);
      const Dense u = numbers.of(exponential(group, p, terms));
      EXPECT_LT(distance(u, testing::exponential(a)), 3e-14) << group.n << " " << width;
      expect_in_group(u, 3e-14);
    }
  }
  // the error of a short series is that of its first missing term
  const Group su3{Kind::SU, 3};
  const std::vector<Expr> p = normals(numbers, 8, 0.1);
  const Dense a = numbers.of(algebra_element(su3, p));
  double before = 1;
  for (int terms = 4; terms <= 10; terms += 2) {
    const double error = distance(numbers.of(exponential(su3, p, terms)), testing::exponential(a));
    EXPECT_LT(error, std::max(0.05 * before, 5e-15)) << terms;
    before = error;
  }
}

TEST(Group, ExponentialIsShort) {
  Arena arena;
  Numbers numbers(arena);
  const auto cost = [&](Group group, int terms) {
    return testing::operations(
        testing::parts(exponential(group, normals(numbers, group.generators()), terms)));
  };
  EXPECT_LT(cost({Kind::SU, 2}, 0), 24);
  EXPECT_LT(cost({Kind::SU, 3}, 13), 320);
  EXPECT_LT(cost({Kind::SU, 3}, 23), 420);
}

TEST(Group, Reunitarised) {
  Arena arena;
  Numbers numbers(arena);
  for (const Group& group : kGroups) {
    const Dense u = numbers.element(group.n);
    Dense off = u;
    for (C& x : off.v) x += 1e-4 * C(numbers.normal(), numbers.normal());
    const Dense back = numbers.of(reunitarised(group, numbers.matrix(off)));
    expect_in_group(back, 1e-14);
    EXPECT_LT(distance(back, u), 2e-3);
    EXPECT_LT(distance(numbers.of(reunitarised(group, numbers.matrix(u))), u), 1e-13);
  }
}

/// <|tr U|^2> = 1 (2, 3, ... colours), <(Re tr U)^4> by characters: moments of Haar's measure.
TEST(Group, HaarMoments) {
  for (const Group& group : kGroups) {
    Arena arena;
    Numbers numbers(arena, 7);
    std::vector<Expr> draws = normals(numbers, haar_draws(group));
    const Matrix u = haar(group, draws);
    const Complex last = u.at(group.n - 1, group.n - 1);
    testing::Tape tape({trace(u).re, trace(u).im, last.re, last.im});
    const int samples = 20000;
    double square = 0, fourth = 0, corner = 0;
    for (int i = 0; i < samples; ++i) {
      for (Expr d : draws) tape.set(d, numbers.normal());
      tape.run();
      const double x = tape[0], y = tape[1];
      square += (x * x + y * y) / samples;
      fourth += std::pow(x * x + y * y, 2) / samples;
      corner += (tape[2] * tape[2] + tape[3] * tape[3]) / samples;
    }
    expect_in_group(numbers.of(u), 1e-13);
    if (group.kind == Kind::U1) continue;  // all are 1
    EXPECT_NEAR(square, 1, 0.03) << group.n;
    EXPECT_NEAR(fourth, 2, 0.15) << group.n;  // of |tr U|^4: also the Catalan number 2 for SU(2)
    EXPECT_NEAR(corner, 1.0 / group.n, 0.01) << group.n;
  }
}

TEST(Group, NearIdentity) {
  Arena arena;
  Numbers numbers(arena);
  for (const Group& group : kGroups) {
    const auto draws = normals(numbers, group.generators());
    const Dense u = numbers.of(near_identity(group, draws, arena.real(0.01L), 12));
    expect_in_group(u, 1e-13);
    EXPECT_LT(distance(u, testing::one(group.n)), 0.05);
  }
}

/// f_a v_a for dV V^-1 = i v_a T_a, V = exp(i p_a T_a) U, as numbers.
double slope_along(const Group& group, const Dense& change, const Dense& v, const Dense& f) {
  const Dense rate = change * dagger(v);  // i v_a T_a
  const double scale = group.kind == Kind::U1 ? 1 : 2;
  return -scale * trace(f * rate).real();
}

TEST(Group, SlopesAreCarriedThroughTheExponential) {
  Arena arena;
  for (const Group& group : kGroups) {
    for (const double width : {1e-9, 0.1, 0.5, 1.0}) {
      Numbers numbers(arena, static_cast<unsigned>(group.n));
      const auto count = static_cast<std::size_t>(group.generators());
      const std::vector<Expr> p = normals(numbers, group.generators(), width / group.n),
                              f = normals(numbers, group.generators());
      const CarriedSlope carried = carried_slope(group, p, f, exponential_terms(1e-17, 4));
      const std::vector<double> z = numbers.of(carried.of_exponent),
                                past = numbers.of(carried.of_link);
      const Dense a = numbers.of(algebra_element(group, p)),
                  whole = numbers.of(algebra_element(group, f));
      ASSERT_EQ(z.size(), count);
      const std::size_t stride = count > 8 ? 7 : 1;  // of large groups some generators
      for (std::size_t i = 0; i < count; i += stride) {
        std::vector<Expr> unit(count, arena.integer(0));
        unit[i] = arena.integer(1);
        const Dense t = numbers.of(algebra_element(group, unit));
        const auto at = [&](double h) { return testing::exponential(a + C(h) * t); };
        const double h = 2e-3;
        const Dense change = C(1 / (12 * h)) * (C(8) * (at(h) + C(-1) * at(-h)) +
                                                C(-1) * (at(2 * h) + C(-1) * at(-2 * h)));
        EXPECT_NEAR(z[i], slope_along(group, change, at(0), whole), 3e-11)
            << group.n << " " << width;
        // U moves by i T: dV V^-1 = exp(A) i T exp(-A)
        EXPECT_NEAR(past[i], slope_along(group, at(0) * t, at(0), whole), 1e-13);
      }
    }
  }
}

}  // namespace
}  // namespace vphi::gauge
