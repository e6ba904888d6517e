// The order in which a long site function computes, and what it holds on the way.
#include "compiler/emit/in_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>

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

TEST(WrittenOrder, HasWhatAValueNeedsBeforeIt) {
  Arena arena;
  const gauge::Matrix product = gauge::times(read(arena, 2, 0), read(arena, 2, 1));
  const std::vector<Expr> roots = parts(product);
  const std::vector<Expr> order = written_order(roots, load);
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
  EXPECT_EQ(most_held(written_order(roots, load), roots, load), 3);
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
    EXPECT_LT(most_held(written_order(roots, load), roots, load), 18 * 4) << paths;
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
  EXPECT_LT(most_held(written_order(roots, load), roots, load), 18 * 5);
}

}  // namespace
}  // namespace vphi::emit
