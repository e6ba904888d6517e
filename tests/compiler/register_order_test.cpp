// The order of the operations of a long site function, and the number of values it keeps live.
#include "compiler/emit/text/rematerialise.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/algebra/transform.hpp"
#include "compiler/gauge/products.hpp"

namespace vphi::emit {
namespace {

using algebra::Arena;
using algebra::Expr;
using algebra::Node;
using algebra::Op;

bool load(const Node& node) { return node.op == Op::Load; }

/// Matrix number `number` of what a site reads.
gauge::Matrix read(Arena& arena, int n, int number) {
  gauge::Matrix m{n, n, {}};
  for (int i = 0; i < n * n; ++i) {
    const int array = 2 * (number * n * n + i);
    m.parts.push_back({arena.load(array), arena.load(array + 1)});
  }
  return m;
}

std::vector<Expr> parts(const gauge::Matrix& m) {
  std::vector<Expr> list;
  for (const gauge::Complex& part : m.parts) list.insert(list.end(), {part.re, part.im});
  return list;
}

TEST(RegisterOrder, HasWhatAValueNeedsBeforeIt) {
  Arena arena;
  const gauge::Matrix product = gauge::times(read(arena, 2, 0), read(arena, 2, 1));
  const std::vector<Expr> roots = parts(product);
  const std::vector<Expr> order = register_order(roots, load);
  for (const Expr root : roots) EXPECT_NE(std::ranges::find(order, root), order.end());
  for (std::size_t i = 0; i < order.size(); ++i) {
    EXPECT_FALSE(load(*order[i]));
    for (const Expr arg : order[i].args())
      EXPECT_TRUE(load(*arg) ||
                  std::ranges::find(order, arg) < order.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

// a0 + a1 + ... + a9 one after the other: the sum so far and the next number.
TEST(MostHeld, CountsFromTheReadToTheLastUse) {
  Arena arena;
  Expr sum = arena.load(0);
  for (int i = 1; i < 10; ++i) sum = gauge::plus(sum, arena.load(i));
  const std::vector<Expr> roots{sum};
  EXPECT_EQ(most_live(register_order(roots, load), roots, load), 3);
}

gauge::Matrix sum_of_paths(Arena& arena, int paths) {
  gauge::Matrix sum;
  for (int p = 0; p < paths; ++p) {
    const gauge::Matrix a = gauge::times(read(arena, 3, 3 * p), read(arena, 3, 3 * p + 1)),
                        b = read(arena, 3, 3 * p + 2);
    sum = p == 0 ? gauge::times(a, b) : gauge::plus_product(sum, a, b);
  }
  return sum;
}

// A sum of products of three matrices: the sum, one product and a matrix or two, however many there
// are. From the results backwards every product would be held.
TEST(MostHeld, DoesNotGrowWithTheNumberOfPaths) {
  for (const int paths : {2, 6, 18}) {
    Arena arena;
    const std::vector<Expr> roots = parts(sum_of_paths(arena, paths));
    EXPECT_LT(most_live(register_order(roots, load), roots, load), 18 * 4) << paths;
  }
}

// Products that were there before, for something else, come where they are wanted.
TEST(MostHeld, DoesNotKnowWhoElseHasTheProducts) {
  Arena arena;
  for (int p = 0; p < 6; ++p) {
    const auto product = gauge::times(read(arena, 3, 3 * p), read(arena, 3, 3 * p + 1));
    gauge::times(read(arena, 3, 100 + p), product);  // of another kernel
  }
  const std::vector<Expr> roots = parts(sum_of_paths(arena, 6));
  EXPECT_LT(most_live(register_order(roots, load), roots, load), 18 * 5);
}

// (((a b) c) d ... ) a: where `a` is wanted at both ends, its third row rebuilt, it is read again,
// and nothing is held for it in between. The value is the same.
TEST(ReadAgain, WhatIsWantedEarlyAndLate) {
  Arena arena;
  gauge::Matrix a = read(arena, 3, 0);
  for (int k = 0; k < 3; ++k) {
    const gauge::Complex u = a.at(0, (k + 1) % 3), v = a.at(1, (k + 2) % 3),
                         w = a.at(0, (k + 2) % 3), x = a.at(1, (k + 1) % 3);
    a.at(2, k) = gauge::conjugate(gauge::minus(gauge::times(u, v), gauge::times(w, x)));
  }
  gauge::Matrix product = a;
  for (int p = 1; p < 12; ++p) product = gauge::times(product, read(arena, 3, p));
  const std::vector<Expr> roots = parts(gauge::times(product, a));
  const std::vector<Expr> order = register_order(roots, load);
  const Rematerialised rematerialised = rematerialise(order, roots, load, load, 512);
  EXPECT_EQ(rematerialised.copies.size(), 12u);  // two rows
  const auto read_or_copy = [](const Node& n) { return load(n) || n.op == Op::Symbol; };
  EXPECT_LT(most_live(rematerialised.order, rematerialised.roots, read_or_copy),
            most_live(order, roots, load) - 10);
  EXPECT_LT(rematerialised.order.size(), order.size() + 80);
  std::unordered_map<const Node*, Expr> originals;
  for (const Rematerialised::Copy& copy : rematerialised.copies)
    originals[copy.symbol.get()] = copy.read;
  for (std::size_t i = 0; i < roots.size(); ++i) {
    EXPECT_NE(rematerialised.roots[i], roots[i]);
    EXPECT_EQ(algebra::substitute(rematerialised.roots[i], originals), roots[i]);
  }
  const Rematerialised near = rematerialise(order, roots, load, load, 100000);
  EXPECT_TRUE(near.copies.empty());
  EXPECT_EQ(near.order.size(), order.size());
}

}  // namespace
}  // namespace vphi::emit
