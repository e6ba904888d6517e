// Gauge configurations that one run writes and another one reads.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/support/scratch.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

/// Loops of each plane, and one that says where it stands and which way round it goes.
const std::string kLoopsInFiles =
    "xy = mean(re(tr(loop(x, y, -x, -y)))), xt = mean(re(tr(loop(x, t, -x, -t)))), "
    "yz = mean(re(tr(loop(y, z, -y, -z)))), "
    "place = mean((index(x) + 2*index(y) + 8*index(z) + 16*index(t))*im(tr(loop(2*x, y, -2*x, "
    "-y)))), line = mean(im(tr(path(U, 2*z))))";

std::string model_of(const std::string& lines) {
  return "model links \"configurations in files\"\nlattice grid: 2 * 4 * 2 * 6\n"
         "gauge U: SU(3)\n" +
         lines;
}

class WrittenConfigurations : public ::testing::TestWithParam<const char*> {};

TEST_P(WrittenConfigurations, AreReadByAnotherRun) {
  if (!testing::device("native")) GTEST_SKIP() << "no native device";
  const std::string format = GetParam();
  const testing::ScratchFolder folder;
  testing::Simulation setup;
  setup.out = (folder / "first").string();
  const auto written =
      testing::run_text(model_of("init U ~ hot\nat end: " + kLoopsInFiles +
                                 " -> \"loops.csv\"\nat end: U -> " + format + "(\"conf\")\n"),
                        setup);
  const std::string file = (folder / "first" / ("conf_00000000." + format)).string();
  const auto read = testing::run_text(
      model_of("init U = file(\"" + file + "\")\nat end: " + kLoopsInFiles + " -> \"loops.csv\"\n"),
      {});
  const double within = format == "milc" ? 1e-6 : 1e-13;  // MILC's numbers have 32 bits
  for (const char* name : {"xy", "xt", "yz", "place", "line"}) {
    const double value = testing::last(written, name);
    EXPECT_GT(std::abs(value), 1e-3) << name;
    EXPECT_NEAR(testing::last(read, name), value, within * (1 + std::abs(value))) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, WrittenConfigurations,
                         ::testing::Values("ildg", "nersc", "milc", "openqcd"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace vphi
