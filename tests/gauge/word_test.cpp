// Words and products along them, against walks written out with dense matrices.
#include "compiler/gauge/word.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/gauge/group.hpp"
#include "compiler/gauge/link_paths.hpp"
#include "tests/gauge/numbers.hpp"
#include "tests/gauge/walks.hpp"

namespace vphi::gauge {
namespace {

using testing::Dense;
using testing::distance;
using testing::Numbers;
using testing::word;

const Word kPlaquette = word("+0 +1 -0 -1"), kRectangle = word("+0 +0 +1 -0 -0 -1"),
           kTwisted = word("+0 +1 +2 -0 -1 -2");

TEST(Word, Forms) {
  EXPECT_TRUE(closed(kPlaquette));
  EXPECT_FALSE(closed(word("+0 +1")));
  EXPECT_EQ(to_text(inverse(kRectangle)), "+1 +0 +0 -1 -0 -0");
  EXPECT_EQ(reduced(word("+0 +1 -1 +2 -2 +1 -0 -1")), kPlaquette);
  EXPECT_EQ(reduced(word("+3 +0 +1 -0 -1 -3")), kPlaquette);
  EXPECT_TRUE(reduced(word("+0 +1 -1 -0")).empty());
  // all cyclic orders and the way back are one loop; a plaquette of another plane is another one
  const Word canonical = canonical_loop(kTwisted);
  Word turned = kTwisted;
  for (std::size_t i = 0; i < turned.size(); ++i) {
    std::ranges::rotate(turned, turned.begin() + 1);
    EXPECT_EQ(canonical_loop(turned), canonical);
    EXPECT_EQ(canonical_loop(inverse(turned)), canonical);
  }
  EXPECT_NE(canonical_loop(kPlaquette), canonical_loop(word("+0 +2 -0 -2")));
  bool reversed = false;
  canonical_loop(canonical, &reversed);
  EXPECT_FALSE(reversed);
  canonical_loop(inverse(canonical), &reversed);
  EXPECT_TRUE(reversed);
}

TEST(Word, LinksOfAPlaquette) {
  const std::vector<LinkAt> found = links(kPlaquette);
  const LinkAt expected[] = {{0, {}, false}, {1, {{1}}, false}, {0, {{0, 1}}, true}, {1, {}, true}};
  ASSERT_EQ(found.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(found[i], expected[i]) << i;
}

/// docs/formulas.md 2.1: paths from x + mu back to x, for mu = 0, n = +nu and -nu.
TEST(Word, Staples) {
  const auto texts = [](const Word& loop, int axis) {
    std::vector<std::string> result;
    for (const Rest& rest : rests(loop, axis)) result.push_back(to_text(rest.path));
    return result;
  };
  EXPECT_EQ(texts(kPlaquette, 0), (std::vector<std::string>{"+1 -0 -1", "-1 -0 +1"}));
  EXPECT_EQ(texts(kPlaquette, 1), (std::vector<std::string>{"-0 -1 +0", "+0 -1 -0"}));
  EXPECT_EQ(texts(kRectangle, 0), (std::vector<std::string>{"+0 +1 -0 -0 -1", "+1 -0 -0 -1 +0",
                                                            "-1 -0 -0 +1 +0", "+0 -1 -0 -0 +1"}));
  for (const Word& loop : {kPlaquette, kRectangle, kTwisted})
    for (int axis = 0; axis < 3; ++axis)
      for (const Rest& rest : rests(loop, axis)) {
        Word whole{{axis, false}};
        whole.insert(whole.end(), rest.path.begin(), rest.path.end());
        bool own = false, of_loop = false;
        EXPECT_EQ(canonical_loop(whole, &own), canonical_loop(loop, &of_loop));
        EXPECT_EQ(own != of_loop, rest.reversed);
      }
}

TEST(Paths, ProductsAndTraces) {
  for (const int n : {1, 2, 3, 5}) {
    Arena arena;
    Numbers numbers(arena);
    testing::Field field(numbers, n);
    const LinkOf link = remembered(field.expressions());
    for (const char* text :
         {"+0", "-0", "+0 +1 -0", "+0 +1 -0 -1", "+0 +1 +2 -0 -1 -2", "-3 -2 -2 +1 +3 +2 +2 -1"}) {
      const Word w = word(text);
      const Dense expected = field.along(text, {{1, 0, -2, 0}});
      EXPECT_LT(distance(numbers.of(along(w, {{1, 0, -2, 0}}, link)), expected), 1e-13);
      EXPECT_LT(std::abs(numbers.of(trace_along(w, {{1, 0, -2, 0}}, link)) - trace(expected)),
                1e-13);
    }
  }
}

/// The staples of plaquettes and rectangles of one link, as listed in docs/formulas.md 2.1.
std::vector<std::pair<double, std::string>> listed(double c0, double c1) {
  std::vector<std::pair<double, std::string>> paths;
  for (const char* nu : {"1", "2", "3"}) {
    for (const char* sign : {"+", "-"}) {
      const std::string n = std::string(sign) + nu,
                        back = std::string(sign[0] == '+' ? "-" : "+") + nu;
      paths.emplace_back(c0, n + " -0 " + back);
      paths.emplace_back(c1, "+0 " + n + " -0 -0 " + back);
      paths.emplace_back(c1, n + " -0 -0 " + back + " +0");
      paths.emplace_back(c1, n + " " + n + " -0 " + back + " " + back);
    }
  }
  return paths;
}

TEST(Paths, SumsOfStaplesTakeFewProducts) {
  for (const double c1 : {0.0, -1.0 / 12, -1.4088}) {
    for (const int n : {2, 3}) {
      Arena arena;
      Numbers numbers(arena);
      testing::Field field(numbers, n);
      std::vector<WeightedLinkPath> paths;
      Dense expected(n);
      const Expr none = arena.integer(0);
      for (const auto& [c, text] : listed(1 - 8 * c1, c1)) {
        if (c == 0) continue;
        paths.push_back({{arena.real(c), none}, word(text), {{1}}});
        expected = expected + c * field.along(text, {{1}});
      }
      LinkPathPlan plan;
      const Matrix sum = sum_of_paths(paths, remembered(field.expressions()), &plan);
      EXPECT_LT(distance(numbers.of(sum), expected), 1e-12);
      EXPECT_EQ(plan.products, c1 == 0 ? 12 : 62);
      EXPECT_EQ(plan.links, c1 == 0 ? 18 : 62);
    }
  }
}

TEST(Paths, WeightsThatAreSlotsAndEqualWords) {
  Arena arena;
  Numbers numbers(arena);
  testing::Field field(numbers, 3);
  const Expr c = numbers.value(0.3), d = numbers.value(-2), none = arena.integer(0);
  const std::vector<WeightedLinkPath> paths{{{c, none}, word("+1 -0 -1"), {{1}}},
                                            {{d, none}, word("+1 -0 -1"), {{1}}},
                                            {{none, c}, word("-1 -0 +1"), {{1}}},
                                            {{d, c}, word("+1 -0"), {{1}}}};
  const Dense expected = testing::C(-1.7) * field.along("+1 -0 -1", {{1}}) +
                         testing::C(0, 0.3) * field.along("-1 -0 +1", {{1}}) +
                         testing::C(-2, 0.3) * field.along("+1 -0", {{1}});
  EXPECT_LT(distance(numbers.of(sum_of_paths(paths, field.expressions())), expected), 1e-13);
}

}  // namespace
}  // namespace vphi::gauge
