// Which colour a launch updates, and which classes of sites hold it: what ranks send after an
// update of one colour.
#include "compiler/schedule/known_colours.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/compile.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

/// Site by site in a box whose extents are multiples of both numbers.
std::uint64_t counted(const program::SiteOrder& order, const kernel::Colours& colours, int colour,
                      const std::array<int, 4>& apart) {
  const int side = 12;
  std::uint64_t classes = 0;
  for (int t = 0; t < side; ++t)
    for (int z = 0; z < side; ++z)
      for (int y = 0; y < side; ++y)
        for (int x = 0; x < side; ++x) {
          const std::array<int, 4> site{x, y, z, t};
          int of_colour = 0, of_class = 0;
          for (std::size_t axis = 0; axis < 4; ++axis) {
            of_colour += colours.weights[axis] * site[axis];
            of_class += order.weights[axis] * (site[axis] + apart[axis] + 12);
          }
          if (of_colour % colours.modulus == colour)
            classes |= std::uint64_t{1} << of_class % order.modulus;
        }
  return classes;
}

TEST(KnownColours, ClassesOfAColour) {
  const program::SiteOrder order{2, {1, 1, 1, 1}, 0};
  const std::vector<kernel::Colours> rows{
      {2, {1, 1, 1, 1}, 0, ""}, {2, {0, 1, 1, 1}, 1, ""}, {4, {1, 2, 3, 1}, 0, ""},
      {3, {1, 1, 1, 1}, 0, ""}, {6, {1, 3, 5, 3}, 0, ""},
  };
  const std::vector<std::array<int, 4>> distances{{}, {0, 0, 0, 1}, {1, 0, 0, -1}, {0, 0, 0, -2}};
  for (const kernel::Colours& colours : rows)
    for (int colour = 0; colour < colours.modulus; ++colour)
      for (const auto& apart : distances)
        EXPECT_EQ(schedule::classes_of_colour(order, colours, colour, apart),
                  counted(order, colours, colour, apart))
            << colours.modulus << " colours, " << colour << ", " << apart[3];
  EXPECT_EQ(schedule::classes_of_colour(order, {}, {}, {}), 3U);
  EXPECT_EQ(schedule::classes_of_colour(order, rows[0], {}, {}), 3U);
}

Compilation planned(const char* model) {
  Compilation c = compile_model(testing::shipped(model), {}, {});
  EXPECT_TRUE(c.plan.has_value());
  return c;
}

/// A kernel goes through its colours from 0 on.
TEST(KnownColours, OfTheUpdatesOfASweep) {
  Compilation compiled = planned("gauge/su2");
  schedule::Plan& plan = compiled.plan.value();
  const schedule::KnownColours known(plan);
  const auto& list = plan.program.cycle.empty() ? plan.program.step : plan.program.cycle[0];
  const auto colours = known.of(list);
  int kernel = -1, next = 0, seen = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!plan.kernels[static_cast<std::size_t>(list[i].kernel)].colours) {
      EXPECT_FALSE(colours[i]);
      continue;
    }
    if (list[i].kernel != kernel) kernel = list[i].kernel, next = 0;
    EXPECT_EQ(colours[i], std::optional(next++)) << i;
    ++seen;
  }
  EXPECT_GT(seen, 8);
}

/// A number that a list leaves otherwise than it was is not known in any list.
TEST(KnownColours, NotWhereListsChangeTheNumber) {
  Compilation compiled = planned("gauge/su2");
  schedule::Plan& plan = compiled.plan.value();
  auto& step = plan.program.step;
  const auto coloured = std::ranges::find_if(step, [&](const program::Launch& launch) {
    return plan.kernels[static_cast<std::size_t>(launch.kernel)].colours.has_value();
  });
  ASSERT_NE(coloured, step.end());
  step.erase(coloured);
  const schedule::KnownColours known(plan);
  for (const auto& colour : known.of(step)) EXPECT_FALSE(colour);
}

}  // namespace
}  // namespace vphi
