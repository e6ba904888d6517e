// Colourings: the numbers of colours of docs/formulas.md 2.4, verified site by site, and boxes that
// do not fit.
#include "compiler/gauge/colouring.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/gauge/walks.hpp"

namespace vphi::gauge {
namespace {

std::vector<Word> loops(int dims, bool rectangles) {
  std::vector<Word> result;
  for (int mu = 0; mu < dims; ++mu) {
    for (int nu = 0; nu < dims; ++nu) {
      const Step m{mu, false}, n{nu, false}, mb{mu, true}, nb{nu, true};
      if (mu < nu) result.push_back({m, n, mb, nb});
      if (mu != nu && rectangles) result.push_back({m, m, n, mb, mb, nb});
    }
  }
  return result;
}

Box box(std::array<std::int64_t, 4> extent, int dims = 4) { return {dims, extent}; }

TEST(Colouring, ConflictSets) {
  const auto plaquette = conflicts(loops(4, false), 0);
  EXPECT_EQ(plaquette.size(), 6u);  // +-nu
  const auto both = conflicts(loops(4, true), 0);
  EXPECT_EQ(both.size(), 6u + 6u + 2u + 12u);  // +-nu, +-2nu, +-mu, +-mu+-nu
  for (const Offset& d : both) EXPECT_NE(std::ranges::find(both, Offset{} - d), both.end());
}

TEST(Colouring, FewestColours) {
  struct Case {
    const char* what;
    bool rectangles;
    Box box;
    int colours;
  };
  const Case cases[] = {
      {"plaquette", false, box({4, 4, 4, 4}), 2},
      {"plaquette, odd", false, box({5, 5, 5, 5}), 5},
      {"plaquette in a plane", false, box({6, 10, 1, 1}, 2), 2},
      {"rectangles", true, box({8, 4, 12, 16}), 4},
      {"rectangles, L = 6", true, box({6, 6, 6, 6}), 6},
      {"rectangles, L = 7", true, box({7, 7, 7, 7}), 7},
      {"rectangles, L = 2 along the links", true, box({4, 4, 4, 4}), 4},
      {"rectangles in a plane", true, box({5, 5, 1, 1}, 2), 5},
  };
  for (const Case& c : cases) {
    for (int axis = 0; axis < c.box.dims; ++axis) {
      const auto d = conflicts(loops(c.box.dims, c.rectangles), axis);
      const ColouringFound found = find_colouring(d, c.box);
      ASSERT_TRUE(found.colouring) << c.what;
      EXPECT_LE(found.colouring->colours, c.colours) << c.what << " " << axis;
      EXPECT_FALSE(prove(*found.colouring, d, c.box)) << c.what;
    }
  }
}

TEST(Colouring, RectanglesAreThoseOfTheSpecification) {
  for (int mu = 0; mu < 4; ++mu) {
    const auto found = find_colouring(conflicts(loops(4, true), mu), box({8, 8, 8, 8})).colouring;
    ASSERT_TRUE(found);
    EXPECT_EQ(found->colours, 4);
    for (int nu = 0; nu < 4; ++nu)
      EXPECT_EQ(found->a[static_cast<std::size_t>(nu)] % 2, nu == mu ? 0 : 1);
    EXPECT_EQ(found->a[static_cast<std::size_t>(mu)], 2);
  }
}

/// sum(x) mod 4 for all directions: mu - nu is a difference of 0.
TEST(Colouring, TheUsualMasksAreRefused) {
  const auto d = conflicts(loops(4, true), 1);
  const auto clash = prove({{1, 1, 1, 1}, 4}, d, box({8, 8, 8, 8}));
  ASSERT_TRUE(clash);
  int sum = 0;
  for (const int x : clash->separation.d) sum += x;
  EXPECT_EQ(sum % 4, 0);
  // even and odd are not enough for rectangles, nor does an odd axis close
  EXPECT_TRUE(prove({{1, 1, 1, 1}, 2}, d, box({8, 8, 8, 8})));
  EXPECT_TRUE(prove({{1, 1, 1, 1}, 2}, conflicts(loops(4, false), 0), box({8, 8, 8, 5})));
}

TEST(Colouring, MisfitsNameTheExtent) {
  const ColouringFound found = find_colouring(conflicts(loops(4, true), 0), box({8, 8, 2, 8}));
  ASSERT_FALSE(found.colouring);
  ASSERT_TRUE(found.misfit);
  EXPECT_EQ(found.misfit->axis, 2);
  EXPECT_EQ(found.misfit->extent, 2);
  EXPECT_EQ(found.misfit->multiple, 4);
  EXPECT_EQ(found.misfit->colours, 4);
  // six colours would part these links, but no axis holds whole turns of them
  const ColouringFound odd = find_colouring(conflicts(loops(4, false), 0), box({4, 4, 4, 3}));
  ASSERT_FALSE(odd.colouring);
  ASSERT_TRUE(odd.misfit);
  EXPECT_EQ(odd.misfit->axis, 3);
  EXPECT_EQ(odd.misfit->multiple, 2);
}

/// A loop of any shape: proven on a small box by going over all pairs of links of all its copies.
TEST(Colouring, LongLoops) {
  const std::vector<Word> twisted{testing::word("+0 +1 +2 -0 -1 -2"),
                                  testing::word("+0 +0 +0 +1 +1 -0 -0 -0 -1 -1")};
  for (int axis = 0; axis < 3; ++axis) {
    const auto d = conflicts(twisted, axis);
    const Box cube = box({12, 12, 12, 1}, 3);
    const auto found = find_colouring(d, cube).colouring;
    ASSERT_TRUE(found);
    EXPECT_FALSE(prove(*found, d, cube));
    for (const Word& loop : twisted) {
      for (std::int64_t i = 0; i < 12 * 12 * 12; ++i) {
        std::vector<std::int64_t> seen;
        for (const LinkAt& link : links(loop)) {
          if (link.axis != axis) continue;
          seen.push_back(
              found->of({(i % 12 + link.at.d[0] + 12) % 12, (i / 12 % 12 + link.at.d[1] + 12) % 12,
                         (i / 144 + link.at.d[2] + 12) % 12, 0}));
        }
        std::ranges::sort(seen);
        EXPECT_EQ(std::ranges::adjacent_find(seen), seen.end());
      }
    }
  }
}

}  // namespace
}  // namespace vphi::gauge
