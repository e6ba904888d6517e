// Products of two links that are kept: which of them are worth it, and that nothing changes.
#include "compiler/gauge/link_products.hpp"

#include <gtest/gtest.h>

#include "compiler/gauge/action.hpp"
#include "tests/gauge/walks.hpp"

namespace vphi::gauge {
namespace {

using testing::distance;
using testing::Field;
using testing::Numbers;
using testing::word;

struct Case {
  const char* what;
  int n, dims;
  std::vector<std::string> loops;
  std::size_t products;
};

/// "+a +b -a -b" for all pairs of directions, and those with a twice.
std::vector<std::string> loops(int dims, bool plaquettes, int length) {
  std::vector<std::string> result;
  for (int m = 0; m < dims; ++m) {
    for (int k = 0; k < dims; ++k) {
      std::string there, back;
      for (int i = 0; i < length; ++i) {
        there += "+" + std::to_string(m) + " ";
        back += "-" + std::to_string(m) + " ";
      }
      const std::string side = std::to_string(k);
      if (m != k && length > 1) result.push_back(there + "+" + side + " " + back + "-" + side);
      if (m < k && plaquettes)
        result.push_back("+" + std::to_string(m) + " +" + side + " -" + std::to_string(m) + " -" +
                         side);
    }
  }
  return result;
}

std::vector<Case> cases() {
  return {{"plaquettes of SU(3)", 3, 4, loops(4, true, 1), 0},
          {"rectangles of SU(3)", 3, 4, loops(4, false, 2), 4},
          {"both of SU(3)", 3, 4, loops(4, true, 2), 4},
          {"rectangles of SU(3) in two dimensions", 3, 2, loops(2, false, 2), 0},
          {"rectangles of SU(4)", 4, 3, loops(3, false, 2), 3},
          {"rectangles of SU(2)", 2, 4, loops(4, false, 2), 4},
          {"three steps by one, SU(3)", 3, 3, loops(3, false, 3), 6},
          {"angles add up", 1, 4, loops(4, false, 2), 0}};
}

LinkType type_of(int n) { return default_storage({n == 1 ? Kind::U1 : Kind::SU, n}); }

TEST(LinkProducts, SumsStayWhatTheyAre) {
  for (const Case& c : cases()) {
    Arena arena;
    Numbers numbers(arena, 5);
    Field field(numbers, c.n);
    LoopAction action;
    double coefficient = 0.3;
    for (const std::string& loop : c.loops)
      action.push_back({arena.real(coefficient += 0.11), word(loop), false});
    std::vector<std::vector<WeightedLinks>> sums;
    for (int axis = 0; axis < c.dims; ++axis) sums.push_back(as_links(staple_paths(action, axis)));
    const LinkProducts link_products = find_link_products(sums, type_of(c.n));
    EXPECT_EQ(link_products.products.size(), c.products) << c.what;
    const LinkOf own = remembered(field.expressions());
    const LinkOf link = [&](int axis, Offset at) -> Matrix {
      if (axis < kFirstProduct) return own(axis, at);
      Matrix product;
      for (const LinkAt& l :
           link_products.products[static_cast<std::size_t>(axis - kFirstProduct)]) {
        const Matrix u = link(l.axis, at + l.at), part = l.adjoint ? adjoint(u) : u;
        product = product.parts.empty() ? part : times(product, part);
      }
      return product;
    };
    int products = static_cast<int>(link_products.products.size());
    for (const auto& sum : sums) {
      LinkPathPlan plan;
      const Matrix there = sum_of_links(with_products(sum, link_products), link, &plan);
      if (&sum == &sums.back()) {
        const auto expected = numbers.of(sum_of_links(sum, own));
        EXPECT_LT(distance(numbers.of(there), expected), 1e-12) << c.what;
      }
      EXPECT_EQ(plan_of(with_products(sum, link_products)).products, plan.products) << c.what;
      products += plan.products;
    }
    EXPECT_EQ(products, link_products.after) << c.what;
    EXPECT_LE(link_products.after, link_products.before) << c.what;
  }
}

/// U_mu(x) U_mu(x+mu) and nothing else: 38 products of matrices for a link's rectangles, not 62.
TEST(LinkProducts, RectanglesGoByTwoStepsInARow) {
  Arena arena;
  LoopAction action;
  for (const std::string& loop : loops(4, false, 2))
    action.push_back({arena.rational(1, 3), word(loop), false});
  std::vector<std::vector<WeightedLinks>> sums;
  for (int axis = 0; axis < 4; ++axis) sums.push_back(as_links(staple_paths(action, axis)));
  const LinkProducts link_products = find_link_products(sums, {{Kind::SU, 3}, Storage::Rows});
  EXPECT_EQ(link_products.before, 4 * 62);
  EXPECT_EQ(link_products.after, 4 * 38 + 4);
  for (std::size_t k = 0; k < link_products.products.size(); ++k) {
    const auto& [first, second] = link_products.products[k];
    EXPECT_EQ(first.axis, second.axis);
    EXPECT_EQ(first.adjoint, second.adjoint);
    EXPECT_EQ(plan_of(with_products(sums[k], link_products)).products, 38);
    EXPECT_EQ(plan_of(with_products(sums[k], link_products)).links, 56);
  }
}

}  // namespace
}  // namespace vphi::gauge
