// Fluxes that are stored with the cell below their face, in a box whose walls let everything out:
// the face before the first cell has no cell below it. What leaves by the low walls is what leaves
// by the high ones in the mirror image.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/support/places.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::last;

/// Hot matter around (x, y) in fm, in a box from -4.8 to 4.8 fm, until much of it has left.
runtime::RunResult matter_at(double x, double y) {
  std::ifstream file(testing::shipped("hydro/event2d"));
  std::string text((std::istreambuf_iterator<char>(file)), {});
  text.erase(text.find("every 5 steps"));
  const auto put = [&](const std::string& from, const std::string& to) {
    const auto place = text.find(from);
    ASSERT_NE(place, std::string::npos) << from;
    text.replace(place, from.size(), to);
  };
  put("64^2, length = 25.6 [fm]", "16^2, spacing = 0.6 [fm]");
  put("until = max(T) < T_f", "until = t > 2.99 [fm]");
  put("(wounded_gold(x, y, b)/wounded_gold(0, 0, 0) + 3e-6)",
      fmt::format("(exp(-((x - {} [fm])^2 + (y - {} [fm])^2)/(2*(1.5 [fm])^2)) + 3e-6)", x, y));
  text += R"(precision real = f64
along = mean(M[0])
across = mean(M[1])
at_x = mean(x*E)
at_y = mean(y*E)
shear = mean(q[0])
at end: mean(E), max(T), along, across, at_x, at_y, shear -> "m.h5"
)";
  return testing::run_text(text, {});
}

TEST(StoredFluxes, LeaveByLowWallsAsByHighOnes) {
  const auto low = matter_at(-3.4, -2), high = matter_at(3.4, 2);
  for (const char* name : {"mean(E)", "max(T)", "shear"})
    EXPECT_NEAR(last(low, name) / last(high, name), 1, 1e-11) << name;
  for (const char* name : {"along", "across", "at_x", "at_y"})
    EXPECT_NEAR(last(low, name) / last(high, name), -1, 1e-11) << name;
  EXPECT_GT(std::abs(last(low, "along")), 1e-2 * last(low, "mean(E)"));
}

}  // namespace
}  // namespace vphi
