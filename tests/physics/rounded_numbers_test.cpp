// W0615: which numbers of a model the arithmetic of its sites rounds to shorter ones.
#include <gtest/gtest.h>

#include <algorithm>

#include "dsl/messages/diagnostic.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

struct Row {
  const char* force;
  const char* real;
  int warnings;
};

TEST(RoundedNumbers, AreReportedOnceWhereTheyBecomeShort) {
  const Row rows[] = {
      {"min(u, 1 - 1e-10)", "f32", 1},
      {"min(u, 1 - 1e-10)*(1 - 1e-10)", "f32", 1},
      {"min(u, 1 - 1e-10) + max(u, -2 - 1e-9)", "f32", 2},
      {"min(u, 1 - 1e-10)", "f64", 0},
      {"min(u, 1 - 1e-17)", "f64", 1},
      {"min(u, 1 - 1e-7)", "f32", 0},      // one step below 1
      {"0.1*u + u/3 + pi*u^2", "f32", 0},  // more digits than the precision, none short
      {"1e-30*u + 1e-12*sin(1e6*u)", "f32", 0},
      {"sqrt(2)^2*u + 3*(1/3)*u", "f32", 0},  // computed, with the errors of that
  };
  for (const Row& row : rows) {
    const Compilation c = testing::compile_text(
        std::string("model bounds \"a bound\"\nlattice box: 16, length = 1\nfield u: real\n"
                    "u'' = lap(u) - ") +
            row.force +
            "\ninit u = cos(2*pi*x)/4, u' = 0\nevolve leapfrog, dt = 0.1*dx, until = t > 1\n"
            "precision real = " +
            row.real + "\nevery 10 steps: max(u) -> \"w.h5\"\n",
        {});
    ASSERT_TRUE(c.plan) << row.force;
    const auto& all = c.diagnostics.all();
    const auto found = std::ranges::count(all, "W0615", [](const auto& d) { return d.code; });
    EXPECT_EQ(found, row.warnings) << row.force << ' ' << row.real;
  }
}

}  // namespace
}  // namespace vphi
