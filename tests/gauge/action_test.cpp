// Staples, forces and differences of actions against sums over whole boxes of random links.
#include "compiler/gauge/action.hpp"

#include <gtest/gtest.h>

#include "tests/gauge/walks.hpp"

namespace vphi::gauge {
namespace {

using testing::C;
using testing::Dense;
using testing::distance;
using testing::Field;
using testing::Numbers;
using testing::word;

struct Text {
  double coefficient;
  std::string loop;
  bool imaginary = false;
};

/// beta/N (c0 plaquettes + c1 rectangles) of Re tr, with a minus: Wilson, Symanzik, Iwasaki, DBW2.
std::vector<Text> improved(int dims, double beta, int n, double c1) {
  std::vector<Text> result;
  const auto name = [](char sign, int axis) {
    return std::string(1, sign) + char('0' + axis) + " ";
  };
  for (int m = 0; m < dims; ++m) {
    for (int k = 0; k < dims; ++k) {
      const std::string p = name('+', m), q = name('-', m), r = name('+', k), s = name('-', k);
      if (m < k) result.push_back({-beta / n * (1 - 8 * c1), p + r + q + s});
      if (m != k && c1 != 0) result.push_back({-beta / n * c1, p + p + r + q + q + s});
    }
  }
  return result;
}

struct Case {
  const char* what;
  int n, dims;
  std::array<int, 4> extent;
  std::vector<Text> terms;
  bool linear = true;
};

std::vector<Case> cases() {
  return {
      {"Wilson U(1)", 1, 2, {3, 3, 1, 1}, improved(2, 1.3, 1, 0)},
      {"Wilson SU(2)", 2, 3, {3, 3, 2, 1}, improved(3, 2.3, 2, 0)},
      {"Wilson SU(3)", 3, 4, {2, 2, 3, 2}, improved(4, 5.7, 3, 0)},
      {"Symanzik SU(3)", 3, 4, {3, 3, 3, 3}, improved(4, 3.0, 3, -1.0 / 12)},
      {"Iwasaki SU(2)", 2, 4, {3, 3, 3, 3}, improved(4, 1.2, 2, -0.331)},
      {"DBW2 SU(4)", 4, 2, {4, 4, 1, 1}, improved(2, 0.8, 4, -1.4088)},
      {"twisted SU(3)",
       3,
       3,
       {3, 3, 3, 1},
       {{0.7, "+0 +1 +2 -0 -1 -2"}, {-0.4, "-2 +0 +2 +1 -0 -1"}}},
      {"imaginary SU(3)",
       3,
       2,
       {3, 3, 1, 1},
       {{0.9, "+0 +1 -0 -1", true}, {-0.3, "+0 +0 +1 -0 -0 -1"}}},
      {"lines around the box", 2, 2, {4, 3, 1, 1}, {{0.5, "+0 +0 +0 +0"}, {1.1, "+0 +1 -0 -1"}}},
      {"twice around a plaquette",
       3,
       2,
       {3, 3, 1, 1},
       {{0.6, "+0 +1 -0 -1 +0 +1 -0 -1"}, {0.2, "+0 +1 -0 -1"}},
       false},
      {"rectangles in a small box",
       3,
       2,
       {3, 2, 1, 1},
       {{0.6, "+0 +0 +0 +1 -0 -0 -0 -1"}, {0.3, "+0 +1 +1 +1 -0 -1 -1 -1"}},
       false},
  };
}

/// An action on a box of links, its expressions and its value from dense matrices.
class BoxOfLinks {
 public:
  explicit BoxOfLinks(const Case& c)
      : case_(c), numbers_(arena_, 11), field_(numbers_, c.n, c.extent) {
    for (const Text& t : c.terms)
      action_.push_back({numbers_.value(t.coefficient), word(t.loop), t.imaginary});
    box_.dims = c.dims;
    for (std::size_t i = 0; i < 4; ++i) box_.extent[i] = c.extent[i];
  }

  double whole() {
    double sum = 0;
    Offset o;
    for (o.d[3] = 0; o.d[3] < case_.extent[3]; ++o.d[3])
      for (o.d[2] = 0; o.d[2] < case_.extent[2]; ++o.d[2])
        for (o.d[1] = 0; o.d[1] < case_.extent[1]; ++o.d[1])
          for (o.d[0] = 0; o.d[0] < case_.extent[0]; ++o.d[0])
            for (const Text& t : case_.terms) {
              const C z = trace(field_.along(t.loop, o));
              sum += t.coefficient * (t.imaginary ? z.imag() : z.real());
            }
    return sum;
  }

  const Case& case_;
  Arena arena_;
  Numbers numbers_;
  Field field_;
  LoopAction action_;
  Box box_;
};

Group group_of(int n) { return {n == 1 ? Kind::U1 : Kind::SU, n}; }

TEST(Action, ForceIsTheSlope) {
  for (const Case& c : cases()) {
    BoxOfLinks s(c);
    const Group group = group_of(c.n);
    for (int axis = 0; axis < c.dims; ++axis) {
      const std::vector<double> f =
          s.numbers_.of(force(group, s.action_, axis, remembered(s.field_.expressions())));
      const Dense u = s.field_.at(axis, {}).value;
      for (int a = 0; a < group.generators(); a += 3) {
        std::vector<Expr> p(static_cast<std::size_t>(group.generators()), s.arena_.integer(0));
        p[static_cast<std::size_t>(a)] = s.arena_.integer(1);
        const Dense t = s.numbers_.of(algebra_element(group, p));
        const auto at = [&](double h) {
          s.field_.set(axis, {}, testing::exponential(C(h) * t) * u);
          return s.whole();
        };
        const double h = 2e-3;
        const double slope = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h);
        s.field_.set(axis, {}, u);
        EXPECT_NEAR(f[static_cast<std::size_t>(a)], -slope, 1e-8)
            << c.what << " " << axis << " " << a;
      }
    }
  }
}

TEST(Action, IncreaseOfOneLink) {
  for (const Case& c : cases()) {
    BoxOfLinks s(c);
    for (int axis = 0; axis < c.dims; ++axis) {
      const Dense u = s.field_.at(axis, {}).value, other = s.numbers_.element(c.n);
      const double before = s.whole();
      const double found = s.numbers_.of(increase(s.action_, axis, s.numbers_.matrix(other),
                                                  remembered(s.field_.expressions()), s.box_));
      s.field_.set(axis, {}, other);
      EXPECT_NEAR(found, s.whole() - before, 1e-11) << c.what << " " << axis;
      s.field_.set(axis, {}, u);
      EXPECT_EQ(!twice(s.action_, s.box_), c.linear) << c.what;
    }
  }
}

/// S = Re tr(U V) + (what does not hold the link): exact for every change of the link.
TEST(Action, StaplesOfLinearActions) {
  for (const Case& c : cases()) {
    if (!c.linear) continue;
    BoxOfLinks s(c);
    const int axis = c.dims - 1;
    if (staple_paths(s.action_, axis).empty()) continue;
    const Dense v = s.numbers_.of(staple_sum(s.action_, axis, s.field_.expressions()));
    const Dense u = s.field_.at(axis, {}).value, other = s.numbers_.element(c.n);
    const double before = s.whole() - trace(u * v).real();
    s.field_.set(axis, {}, other);
    EXPECT_NEAR(s.whole() - trace(other * v).real(), before, 1e-11) << c.what;
  }
}

TEST(Action, DensityIsItsSumOverLoops) {
  for (const Case& c : cases()) {
    BoxOfLinks s(c);
    double expected = 0;
    for (const Text& t : c.terms) {
      const C z = trace(s.field_.along(t.loop, {}));
      expected += t.coefficient * (t.imaginary ? z.imag() : z.real());
    }
    EXPECT_NEAR(s.numbers_.of(density(s.action_, remembered(s.field_.expressions()))), expected,
                1e-12)
        << c.what;
  }
}

TEST(Action, EqualLoopsAreOneTerm) {
  Arena arena;
  const Expr two = arena.integer(2), one = arena.integer(1);
  const LoopAction action = collected({{two, word("+0 +1 -0 -1")},
                                       {one, word("+1 -0 -1 +0")},
                                       {one, word("+1 +0 -1 -0")},
                                       {two, word("+0 +1 -0 -1"), true},
                                       {two, word("+1 +0 -1 -0"), true},
                                       {one, word("+0 +2 -0 -2")},
                                       {-one, word("+2 +0 -2 -0")}});
  ASSERT_EQ(action.size(), 1u);
  EXPECT_EQ(action[0].coefficient, arena.integer(4));
}

/// The Symanzik action of SU(3): what its kernels must compute (docs/formulas.md 2.1: word by word
/// 84 products of 198 operations and 14813 operations in all).
TEST(Action, ForcesAreShort) {
  Arena arena;
  Numbers numbers(arena);
  Field field(numbers, 3);
  LoopAction action;
  for (const Text& t : improved(4, 3.9, 3, -1.0 / 12))
    action.push_back({arena.real(t.coefficient), word(t.loop), false});
  LinkPathPlan plan;
  staple_sum(action, 0, remembered(field.expressions()), &plan);
  EXPECT_EQ(plan.products, 62);
  EXPECT_EQ(plan.links, 62);
  const auto f = force({Kind::SU, 3}, action, 0, remembered(field.expressions()));
  EXPECT_LT(testing::operations(f), 13400);
}

}  // namespace
}  // namespace vphi::gauge
