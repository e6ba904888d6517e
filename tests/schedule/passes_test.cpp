// The passes over kernels, one table each; the value of an expression never changes.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "compiler/algebra/transform.hpp"
#include "compiler/interpret/tape.hpp"
#include "compiler/kernel/linear.hpp"
#include "compiler/kernel/passes.hpp"

namespace vphi::kernel {
namespace {

using algebra::Arena;
using algebra::Op;

struct Symbols {
  Arena arena;
  Expr u = arena.load(0), v = arena.load(1), w = arena.load(2);
  Expr a = arena.symbol("a"), b = arena.symbol("b"), c = arena.symbol("c");
  Expr n(std::int64_t value) { return arena.integer(value); }
};

double value_of(Expr expr) {
  Tape tape;
  const int at = tape.add(expr);
  std::vector<double> values(tape.operations.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Tape::Operation& operation = tape.operations[i];
    const algebra::Node& node = *operation.node;
    if (node.op == Op::Number) {
      values[i] = static_cast<double>(node.number.real);
    } else if (node.op == Op::Load) {
      values[i] = 0.7 + 0.4 * node.index;
    } else if (node.op == Op::Symbol) {
      values[i] = 1.3 + 0.2 * (node.name[0] - 'a');
    } else {
      values[i] = apply<double>(node.op, operation.args, values);
    }
  }
  return values[static_cast<std::size_t>(at)];
}

int count(Expr expr, Op op) {
  int found = 0;
  algebra::visit(expr, [&](Expr node) { found += node.is(op); });
  return found;
}

TEST(Linear, ScalarsGoInFront) {
  Symbols s;
  const Expr expr = s.a * (s.b * (s.u * s.v) + s.c * s.u) + s.b * s.u * s.u + s.a + s.n(3) * s.u;
  const auto terms = linear_terms(expr);
  ASSERT_EQ(terms.size(), 4u);  // u v, u, u^2, and what has no site
  for (const Term& term : terms) EXPECT_FALSE(term.coefficient->per_site);
  EXPECT_NEAR(value_of(sum_of(s.arena, terms)), value_of(expr), 1e-14);
}

TEST(Linear, PowersOfOneTermGiveTheirScalar) {
  Symbols s;
  const auto terms = linear_terms(pow(s.a * s.u + s.b * s.u, 2));
  ASSERT_EQ(terms.size(), 1u);
  EXPECT_EQ(terms[0].site, pow(s.u, 2));
}

TEST(Linear, OppositeTermsCancel) {
  Symbols s;
  EXPECT_TRUE(linear_terms(s.a * (s.u + s.v) - s.a * s.u - s.a * s.v).empty());
}

TEST(Linear, RoundsThatReadTheOneBeforeThreeTimesStaySmall) {
  Symbols s;
  Expr u = s.u;
  for (int round = 0; round < 40; ++round) u = s.v + u * (s.u + u * (s.v + u * s.u));
  EXPECT_EQ(linear_terms(u).size(), 2u);  // 3^40 visits, were what is shared looked at each time
}

TEST(Factor, HornersScheme) {
  Symbols s;
  const Expr expr = s.a * s.u + s.b * pow(s.u, 3) + s.c * pow(s.u, 5);
  const Expr result = factored(expr);
  EXPECT_NEAR(value_of(result), value_of(expr), 1e-14);
  EXPECT_EQ(count(result, Op::Pow), 1);  // u^2, shared
}

TEST(Factor, CommonFieldOnce) {
  Symbols s;
  const Expr expr = s.a * s.u + s.b * s.u * pow(s.v, 2) + s.w;
  const Expr result = factored(expr);
  EXPECT_NEAR(value_of(result), value_of(expr), 1e-14);
  EXPECT_EQ(result, s.w + s.u * (s.a + s.b * pow(s.v, 2)));
}

TEST(Order, KeepsTheValueAndFixesTheOperations) {
  Symbols s;
  const Expr table[] = {
      s.a - s.b * s.u - s.c,
      pow(s.u, 7) / pow(s.a, 3),
      s.n(-2) * s.u * pow(s.v, -1),
      s.arena.make(Op::Sqrt, {s.u}) * pow(s.a, s.arena.rational(-3, 2)),
      pow(s.u, s.arena.rational(2, 3)) - s.n(1),
      pow(s.u, s.arena.rational(7, 4)) + pow(s.v, s.arena.rational(-1, 4)),
      pow(s.u, s.arena.real(3.3L)) -
          pow(s.v, s.arena.real(-2.7L)) * pow(s.u, s.arena.rational(5, 3)),
      -s.u - s.v,
      s.arena.make(Op::Exp, {-(s.u * s.u)}) + s.arena.rational(1, 3),
      s.arena.make(Op::Select, {s.arena.make(Op::Less, {s.u, s.v}), s.a, s.b - s.u}),
  };
  for (Expr expr : table) {
    const Expr result = with_fixed_order(expr);
    EXPECT_NEAR(value_of(result), value_of(expr), 1e-13 * std::abs(value_of(expr)))
        << algebra::to_text(expr);
    algebra::visit(result, [&](Expr node) {
      const bool sum = node.is(Op::Add) || node.is(Op::Mul) || node.is(Op::Pow);
      EXPECT_TRUE(!sum || node->fixed_order) << algebra::to_text(expr);
    });
    EXPECT_EQ(with_fixed_order(result), result);
  }
}

TEST(Order, PowersByRepeatedSquaring) {
  Symbols s;
  EXPECT_EQ(count(with_fixed_order(pow(s.u, 8)), Op::Mul), 3);
  EXPECT_EQ(count(with_fixed_order(pow(s.u, 7)), Op::Mul), 4);
}

/// Quarters are roots of roots. Powers that differ by whole numbers, as those of a formula and its
/// derivative do, share what is left of the exponent.
TEST(Order, FewPowersWithExponents) {
  Symbols s;
  const Expr quarters =
      with_fixed_order(pow(s.u, s.arena.rational(1, 4)) + s.a * pow(s.u, s.arena.rational(-3, 4)));
  EXPECT_EQ(count(quarters, Op::Pow), 0);
  EXPECT_EQ(count(quarters, Op::Sqrt), 2);
  const long double exponent = 1 / 0.18078844L;
  const auto power = [&](int less) { return pow(s.u, s.arena.real(exponent - less)); };
  const Expr several = with_fixed_order(power(0) + s.a * power(1) + s.b * power(2));
  EXPECT_EQ(count(several, Op::Pow), 1);
  const Expr below =
      with_fixed_order(pow(s.u, s.arena.real(-1.25L)) + pow(s.u, s.arena.real(-2.3L)) +
                       pow(s.u, s.arena.real(-3.3L)));
  EXPECT_EQ(count(below, Op::Pow), 1);
  // at 0 and at infinity as the power itself
  for (const double at : {0.0, std::numeric_limits<double>::infinity()}) {
    const Expr both[] = {power(0), pow(s.u, s.arena.real(-2.3L))};
    for (const Expr e : both) {
      const auto leaf = [&](const algebra::Node&) { return at; };
      EXPECT_EQ(algebra::evaluate(with_fixed_order(e), {leaf}), algebra::evaluate(e, {leaf})) << at;
    }
  }
}

/// Derivatives of a quotient hold its divisor in many terms and powers.
TEST(Order, OneQuotientForTermsWithOneDivisor) {
  Symbols s;
  const Expr d = s.u + s.v * s.w;
  const struct {
    Expr sum;
    int quotients;
  } table[] = {
      {s.a * s.u / d + s.b * s.v / d + s.c * s.w / d, 1},
      {s.a / d + s.b * s.u / pow(d, 2) + s.c * s.v / pow(d, 2) + s.w, 2},
      {s.a / d + s.b * s.u / (d * s.w) - s.c / (pow(d, 3) * s.w), 3},
      {s.a / s.u + s.b / s.v, 2},
      {s.a * pow(d, s.arena.rational(-1, 2)) + s.b * pow(d, s.arena.rational(-3, 2)), 2},
  };
  for (const auto& [sum, quotients] : table) {
    const Expr result = with_fixed_order(sum);
    EXPECT_EQ(count(result, Op::Div), quotients) << algebra::to_text(sum);
    EXPECT_NEAR(value_of(result), value_of(sum), 1e-14 * std::abs(value_of(sum)));
  }
}

/// What is added to a stored value is summed first, so that the value is rounded once.
TEST(Order, IncrementsComeFirst) {
  Symbols s;
  const Expr result = with_fixed_order(s.u + s.a * s.v + s.b * s.w);
  ASSERT_TRUE(result.is(Op::Add));
  EXPECT_EQ(result.arg(1), s.u);
}

SiteLoop site_loop_of(Symbols& s, Expr value) {
  SiteLoop sweep;
  sweep.kernel.arrays = {{0, "u", Precision::F64, true, true, false},
                         {1, "v", Precision::F64, true, false, false}};
  sweep.kernel.stores = {{0, value}};
  (void)s;
  return sweep;
}

FreshName numbered(int& next) {
  return [&next](const std::string& hint) { return hint + std::to_string(next++); };
}

TEST(Hoist, ScalarsAreComputedOnceBeforeTheSweep) {
  Symbols s;
  int next = 0;
  const Expr value = s.a * s.a * s.b * s.u + (s.a + s.b) * s.v + s.arena.make(Op::Exp, {s.a});
  const SiteLoop sweep = hoist(site_loop_of(s, value), numbered(next));
  EXPECT_EQ(sweep.before.size(), 3u);
  algebra::visit(sweep.kernel.stores[0].value, [](Expr node) {
    EXPECT_TRUE(node->per_site || node.args().empty()) << algebra::to_text(node);
  });
}

TEST(Hoist, PlainSlotsAndNumbersStay) {
  Symbols s;
  int next = 0;
  const SiteLoop sweep = hoist(site_loop_of(s, s.a * s.u + s.n(2) * s.v), numbered(next));
  EXPECT_TRUE(sweep.before.empty());
}

TEST(Collect, TwoKicksInARowShareTheirForce) {
  Symbols s;
  int next = 0;
  const Expr force = s.arena.make(Op::Sin, {s.v});
  const Expr value = s.u + s.a * (pow(s.b, 2) * force) + s.c * (s.b * force);
  const SiteLoop sweep = hoist(collect(site_loop_of(s, value), numbered(next)), numbered(next));
  EXPECT_EQ(sweep.before.size(), 1u);
  EXPECT_EQ(count(sweep.kernel.stores[0].value, Op::Sin), 1);
}

TEST(Verify, FindsWhatIsUnsound) {
  Symbols s;
  const auto findings = [&](const SiteLoop& sweep) { return verify(sweep.kernel, {"a"}).size(); };
  EXPECT_EQ(findings(site_loop_of(s, s.a * s.u)), 0u);
  EXPECT_EQ(findings(site_loop_of(s, s.b * s.u)), 1u);  // unknown slot
  EXPECT_EQ(findings(site_loop_of(s, s.w)), 1u);        // undeclared array
  EXPECT_EQ(findings(site_loop_of(s, s.arena.load(0, {{1, 0, 0, 0}}))),
            1u);  // overwritten neighbour
  EXPECT_EQ(findings(site_loop_of(s, s.arena.make(Op::Mean, {s.u}))), 1u);
  SiteLoop sweep = site_loop_of(s, s.u);
  sweep.kernel.epilogue = {{"a", s.u}};
  EXPECT_EQ(findings(sweep), 1u);
}

}  // namespace
}  // namespace vphi::kernel
