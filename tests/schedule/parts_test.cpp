// Where a long computation at a site is cut (compiler/kernel/parts.hpp).
#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/algebra/transform.hpp"
#include "compiler/kernel/parts.hpp"
#include "compiler/kernel/passes.hpp"

namespace vphi::kernel {
namespace {

using algebra::Arena;
using algebra::Op;

/// A long sum, rounds that start from it, and a value of the sum alone.
struct SumAndRounds {
  Arena arena;
  Expr u = arena.load(0), v = arena.load(1);
  Expr sum, rounds, beside;

  explicit SumAndRounds(int terms) {
    sum = u;
    for (int i = 1; i <= terms; ++i)
      sum = fixed(Op::Add, sum, unary(Op::Sin, fixed(Op::Mul, v, arena.real(0.1L * i))));
    beside = unary(Op::Tanh, fixed(Op::Mul, sum, v));
    rounds = sum;
    for (int i = 0; i < 60; ++i) {
      const Expr below = fixed(Op::Add, arena.integer(1), unary(Op::Exp, rounds));
      rounds = fixed(Op::Sub, fixed(Op::Div, sum, below), unary(Op::Cos, rounds));
    }
  }
  Expr fixed(Op op, Expr a, Expr b) { return arena.raw(op, {a, b}, {}); }
  Expr unary(Op op, Expr a) { return arena.raw(op, {a}, {}); }

  std::vector<std::vector<Expr>> cuts(Precision precision) const {
    const Expr roots[] = {rounds, beside}, stored[] = {beside};
    return cuts_of(
        roots, stored, [](const algebra::Node& node) { return node.op == Op::Load; }, precision);
  }
};

TEST(Parts, WhatComesBeforeLoopsIsApartWhereItIsLong) {
  const SumAndRounds lengthy(400);
  const auto cuts = lengthy.cuts(Precision::F32);
  ASSERT_EQ(cuts.size(), 1U);
  // the value beside the rounds is ready, and has a place of its own
  EXPECT_EQ(std::ranges::count(cuts[0], lengthy.beside), 1);
  EXPECT_EQ(std::ranges::count(cuts[0], lengthy.sum), 1);
  EXPECT_EQ(std::ranges::count(cuts[0], lengthy.rounds), 0);
  EXPECT_LE(cuts[0].size(), 5U);
}

TEST(Parts, ShortOnesStayWhole) {
  EXPECT_TRUE(SumAndRounds(20).cuts(Precision::F32).empty());
  EXPECT_TRUE(SumAndRounds(20).cuts(Precision::F64).empty());
}

}  // namespace
}  // namespace vphi::kernel
