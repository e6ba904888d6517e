// Outputs that differ in their options alone are datasets of their own.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

TEST(OutputNames, HoldTheOptionsWhereTheseTellThemApart) {
  const auto made = testing::compile_text(R"(model ring
lattice box: 8^2, length = 1, boundary = periodic
field u: real
u'' = lap(u)
init u = cos(2*pi*x), u' = 0
evolve leapfrog, dt = 0.1*dx, until = t >= 1
every 8 steps: spectrum(u), spectrum(u, type = 1), profile(u, along = x) -> "a.h5"
at end: spectrum(u), profile(u, along = y), spectrum(u^2, type = 1) -> "a.h5"
at end: spectrum(u, type = 1), mine = spectrum(u, type = 1) -> "b.h5"
)",
                                          {});
  ASSERT_TRUE(made.program);
  std::vector<std::string> names;
  for (const auto& output : made.program->outputs)
    for (const auto& field : output.fields) names.push_back(output.file + " " + field.name);
  const std::vector<std::string> expected{
      "a.h5 spectrum(u)",           "a.h5 spectrum(u, type = 1)",
      "a.h5 profile(u, along = x)", "a.h5 spectrum(u)",
      "a.h5 profile(u, along = y)", "a.h5 spectrum(u^2)",
      "b.h5 spectrum(u)",           "b.h5 mine"};
  std::vector<std::string> sorted = expected;
  std::ranges::sort(sorted), std::ranges::sort(names);
  EXPECT_EQ(names, sorted);
}

}  // namespace
}  // namespace vphi
