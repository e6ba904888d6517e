// Sums over pairs that separate, with the fewest products (docs/formulas.md 6.3).
#include "compiler/algebra/pairs.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>

#include "compiler/algebra/transform.hpp"

namespace vphi::algebra {
namespace {

class Pairs : public ::testing::Test {
 protected:
  Expr f(Op op, Expr x) { return arena.make(op, {x}); }
  Expr real(long double x) { return arena.real(x); }

  Arena arena;
  Expr x = arena.load(0), y = other(x);
  Expr distance = x - y;
};

TEST_F(Pairs, FewestProducts) {
  struct Case {
    const char* text;
    Expr pair;
    std::size_t rank;
  };
  const Expr one = arena.integer(1), two = arena.integer(2);
  const Case cases[] = {
      {"sin(D)", f(Op::Sin, distance), 2},
      {"1 - cos(D)", one - f(Op::Cos, distance), 3},
      {"sin(D) + 0.3 sin(2D)", f(Op::Sin, distance) + real(0.3L) * f(Op::Sin, two * distance), 4},
      {"D^2", pow(distance, 2), 3},
      {"D^3", pow(distance, 3), 4},
      {"D^4", pow(distance, 4), 5},
      {"exp(D)", f(Op::Exp, distance), 1},
      {"cosh(D)", f(Op::Cosh, distance), 2},
      {"(x + y)^2 - (x - y)^2", pow(x + y, 2) - pow(x - y, 2), 1},
      {"x", x, 1},
      {"sin(x + y + 1/2)", f(Op::Sin, x + y + arena.rational(1, 2)), 2},
      {"K x y^2", arena.symbol("K") * x * pow(y, 2), 1},
  };
  for (const Case& c : cases) {
    const auto terms = separate(c.pair);
    ASSERT_TRUE(terms) << c.text;
    EXPECT_EQ(terms->size(), c.rank) << c.text;
    EXPECT_LT(disagreement(c.pair, *terms), 1e-16L) << c.text;
    for (const SeparatedTerm& term : *terms) {
      EXPECT_FALSE(reads_other(term.own)) << c.text;
      EXPECT_FALSE(reads_other(term.other)) << c.text;
    }
  }
}

TEST_F(Pairs, WhatDoesNotSeparate) {
  const Expr one = arena.integer(1);
  EXPECT_FALSE(separate(f(Op::Log, pow(distance, 2) + one)));
  EXPECT_FALSE(separate(pow(one - f(Op::Cos, distance) + real(0.01L), arena.rational(-1, 2))));
  EXPECT_FALSE(separate(f(Op::Abs, distance)));
  EXPECT_FALSE(separate(f(Op::Exp, -pow(distance, 2))));  // exp(2xy) is left over
}

TEST_F(Pairs, WrongFactorsAreFound) {
  auto terms = separate(f(Op::Sin, distance)).value();
  terms[0].own = terms[0].own * arena.rational(1000001, 1000000);
  EXPECT_GT(disagreement(f(Op::Sin, distance), terms), 1e-7L);
}

TEST_F(Pairs, ExchangeAndMarks) {
  const Expr pair = x * pow(y, 2);
  EXPECT_EQ(exchanged(pair), y * pow(x, 2));
  EXPECT_EQ(exchanged(exchanged(pair)), pair);
  EXPECT_EQ(as_own(other(pow(x, 3))), pow(x, 3));
  EXPECT_TRUE(reads_own(pair) && reads_other(pair));
  EXPECT_FALSE(reads_other(x));
}

/// The nearest image at a distance, in a box whose size is a number or a parameter.
TEST_F(Pairs, NearestImagesAreSymmetric) {
  for (Expr size : {arena.integer(5), arena.symbol("L")}) {
    const Expr image =
        distance + size * arena.make(Op::Floor, {arena.rational(1, 2) - distance / size});
    const Expr softened = pow(pow(image, 2) + arena.symbol("eps"), arena.rational(-1, 2));
    EXPECT_TRUE(symmetric(softened));
    EXPECT_FALSE(symmetric(image));
    EXPECT_FALSE(symmetric(x * softened));
  }
}

/// H = 1/2 sum_ij f(x_i - x_j): the force on k is half of both slopes, sum_j f'(x_k - x_j).
TEST_F(Pairs, VariationTakesBothSites) {
  const Expr half = arena.rational(1, 2);
  const Expr energy = half * pair_sum(f(Op::Cos, distance), false);
  // d/dx_k: -1/2 sum_j sin(x_k - x_j) + 1/2 sum_j sin(x_j - x_k), sines being odd
  EXPECT_EQ(variation(energy, 0), -pair_sum(f(Op::Sin, distance), false));
  // a weight of the site itself: sum_k m_k sum_j x_k x_j^2
  const Expr m = arena.load(1);
  const Expr weighted = m * pair_sum(x * pow(y, 2), true);
  const Expr expected =
      m * pair_sum(pow(y, 2), true) + arena.integer(2) * x * pair_sum(other(m) * y, true);
  const Expr slope = variation(weighted, 0);
  // the same sums, with factors of the site inside or in front
  const auto value = [&](Expr e) {
    return evaluate(
        rewrite(e, [&](Expr node) { return node.is(Op::PairSum) ? node.arg(0) : node; }),
        {[](const Node& node) { return (is_other(node) ? 0.7 : 1.3) + 0.1 * node.index; }});
  };
  EXPECT_NEAR(value(slope), value(expected), 1e-14);
}

/// A force of two powers of the distance: one sum, the difference x_i - x_j one of its factors and
/// never multiplied out. k < l is counted from both ends, and both give the same sum.
TEST_F(Pairs, ForcesOfSymmetricPairsAreOneSum) {
  const Expr square = pow(distance, 2) + arena.rational(1, 100);
  const Expr energy = pow(square, -3) - pow(square, -1);
  const Expr slope = variation(arena.rational(1, 2) * pair_sum(energy, true), 0);
  std::vector<Expr> sums;
  visit(slope, [&](Expr e) {
    if (e.is(Op::PairSum)) sums.push_back(e);
  });
  ASSERT_EQ(sums.size(), 1u);
  EXPECT_EQ(in_separable_form(sums[0].arg(0)), sums[0].arg(0));
  const auto near = [](const Node& node) { return is_other(node) ? 0.7 : 1.3; };
  const double r = 0.6, s = r * r + 0.01;
  const double force = -6 * r * std::pow(s, -4) + 2 * r * std::pow(s, -2);
  const Expr of_pair = rewrite(slope, [](Expr e) { return e.is(Op::PairSum) ? e.arg(0) : e; });
  EXPECT_NEAR(evaluate(of_pair, {near}), force, 1e-12 * std::fabs(force));
}

/// (x_i - x_j)^4 far from the origin: the powers are large and their sum is not.
TEST_F(Pairs, CancellationIsSeen) {
  const Expr quartic = pow(distance, 4);
  const auto terms = separate(quartic).value();
  EXPECT_LT(cancellation(quartic, terms, 0, 1), 1e3);
  EXPECT_GT(cancellation(quartic, terms, 100, 1), 1e7);
  const Expr wave = f(Op::Sin, distance);
  EXPECT_LT(cancellation(wave, separate(wave).value(), 100, 1), 5);
}

}  // namespace
}  // namespace vphi::algebra
