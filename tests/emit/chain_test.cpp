// The longest chain of operations, against chains that are counted by hand.
#include "compiler/kernel/chain.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tests/emit/fixture.hpp"

namespace vphi::emit_test {
namespace {

using kernel::Chain;
using kernel::longest_chain;

struct Chains : testing::Test {
  Chains() { c.shape({8}, Boundary::Periodic); }
  Expr x() { return c.load(array); }
  Expr make(Op op, std::vector<Expr> args) { return c.arena->raw(op, std::move(args)); }
  Chain of(Expr root, std::vector<Expr> known = {}) {
    return longest_chain(std::vector<Expr>{root}, known);
  }
  Case c;
  int array = c.array("x", true, true, true);
};

TEST_F(Chains, SumsAreTakenFromLeftToRight) {
  const Expr a = x(), b = make(Op::Mul, {a, a});
  EXPECT_EQ(of(a).instructions, 0);
  EXPECT_EQ(of(b).instructions, 1);
  // (a + a) + a
  EXPECT_EQ(of(make(Op::Add, {a, a, a})).instructions, 2);
  // a*a is used twice: it is known before the sum begins
  EXPECT_EQ(of(make(Op::Add, {b, make(Op::Mul, {b, a})})).instructions, 2);
}

TEST_F(Chains, AProductIsOneInstructionWithItsOnlySum) {
  const Expr a = x();
  const Expr square = make(Op::Mul, {a, a});
  EXPECT_EQ(of(make(Op::Add, {a, square})).instructions, 1);
  const Expr both = make(Op::Add, {make(Op::Add, {a, square}), make(Op::Sqrt, {square})});
  EXPECT_EQ(of(both).special, 1);
  EXPECT_EQ(of(both).instructions, 2);
}

TEST_F(Chains, SpecialFunctionsAreCountedApart) {
  Expr value = x();
  for (int i = 0; i < 3; ++i) value = make(Op::Div, {c.arena->integer(1), make(Op::Exp, {value})});
  EXPECT_EQ(of(value).special, 6);
  EXPECT_EQ(of(value).instructions, 0);
  // beside it a shorter one, which it does not wait for
  Expr sum = x();
  for (int i = 0; i < 20; ++i) sum = make(Op::Add, {sum, x()});
  EXPECT_EQ(of(make(Op::Add, {value, sum})).special, 6);
  EXPECT_EQ(of(make(Op::Add, {value, sum})).instructions, 1);
}

TEST_F(Chains, WhatIsKnownEndsAChain) {
  const Expr root = make(Op::Sqrt, {x()}), more = make(Op::Exp, {root});
  EXPECT_EQ(of(more).special, 2);
  EXPECT_EQ(of(more, {root}).special, 1);
}

}  // namespace
}  // namespace vphi::emit_test
