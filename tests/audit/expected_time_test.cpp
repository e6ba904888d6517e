// The time that a step is expected to take, against the published times of one H200: rows of
// docs/performance.md are compiled for that GPU and counted again.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/compile.hpp"
#include "runtime/device/limits.hpp"
#include "tests/audit/ways.hpp"
#include "tests/support/places.hpp"

namespace vphi::audit {
namespace {

/// Half a row of the table "every shipped model".
struct Published {
  std::string lattice, precision;
  double seconds = 0;   ///< a step
  double expected = 0;  ///< over the measured time
};

/// Models whose sites are bodies; their number is that of the text.
constexpr std::string_view kBodies[] = {"ring"};

/// The ceilings of the call that the table is from.
runtime::Ceilings ceilings_of_the_table() {
  return {.copy = 4.243e12,
          .caches = {},
          .f32 = 64.0e12,
          .f64 = 33.1e12,
          .special32 = 4.05e12,
          .special64 = 1.26e12,
          .launch = 0.74e-6};
}

/// Both precisions of a model's row: | model | lattice | ms | limit | expected | registers, spilled
/// | and the last four again in f64.
std::vector<Published> published(const std::string& model) {
  std::ifstream in(std::string(VPHI_SOURCE_DIR) + "/docs/performance.md");
  const std::string number = R"(\| ([0-9.]+) )", other = R"(\|[^|]*)";
  const std::regex row(R"(\| (\w+) \| ([0-9^*]+) )" + number + other + number + other + number +
                       other + number + other + R"(\|)");
  std::smatch found;
  for (std::string line; std::getline(in, line);) {
    if (!std::regex_match(line, found, row) || found[1] != model) continue;
    const auto value = [&](std::size_t i) { return std::stod(found[i]); };
    return {{found[2], "f32", 1e-3 * value(3), value(4)},
            {found[2], "f64", 1e-3 * value(5), value(6)}};
  }
  return {};
}

double expected_seconds(const std::string& model, const Published& row) {
  for (const std::string& path : models()) {
    if (!path.ends_with("/" + model + ".vphi")) continue;
    CompileOptions options;
    options.precision = row.precision;
    if (std::ranges::find(kBodies, model) == std::end(kBodies)) options.lattice = row.lattice;
    options.until = "t*t > 1e300";  // as `vphi bench` has it
    const Compilation compiled = compile_model(std::string(VPHI_SOURCE_DIR) + "/models/" + path,
                                               options, ways().back().target);
    if (compiled.program)
      return runtime::step_limits(*compiled.program, ceilings_of_the_table(), {132}).expected;
  }
  ADD_FAILURE() << model << " does not compile";
  return 0;
}

class ExpectedTime : public ::testing::TestWithParam<const char*> {};

TEST_P(ExpectedTime, IsWithinAQuarterOfThePublishedOne) {
  const std::vector<Published> rows = published(GetParam());
  ASSERT_EQ(rows.size(), 2u) << "docs/performance.md has no row of this model";
  for (const Published& row : rows) {
    const double ratio = expected_seconds(GetParam(), row) / row.seconds;
    EXPECT_GT(ratio, 0.75) << row.precision;
    EXPECT_LT(ratio, 1.25) << row.precision;
    EXPECT_NEAR(ratio, row.expected, 0.03) << row.precision << ", the column `expected`";
  }
}

INSTANTIATE_TEST_SUITE_P(Published, ExpectedTime,
                         ::testing::Values("preheating", "qball", "gw", "drum", "wave", "kink",
                                           "slab", "viscous_gubser", "ising", "su2", "ring",
                                           "bands"));

/// Bytes a site of this kernel of a model in f32 on a GPU.
int bytes_of(const std::string& model, const std::string& kernel) {
  CompileOptions options;
  options.precision = "f32";
  const Compilation compiled = compile_model(std::string(VPHI_SOURCE_DIR) + "/models/" + model,
                                             options, ways().back().target);
  for (const program::Kernel& one : compiled.program->kernels)
    if (one.name == kernel) return one.bytes;
  return -1;
}

// Every second spin of a row is drawn: those between them are read, and both lie in the sectors
// that are read and written.
TEST(Traffic, OfSpinsIsThatOfTheirSectors) {
  EXPECT_EQ(bytes_of("spins/ising.vphi", "heatbath_s"), 4 * (2 + 2));
}

// Links along x are drawn in every second row, from links of both directions in this row and its
// neighbours. Links along y are drawn at every second place of a row, by whole sectors.
TEST(Traffic, OfLinksIsThatOfTheColoursTheyRead) {
  EXPECT_EQ(bytes_of("gauge/u1_2d.vphi", "heatbath_x"), 4 * (4 + 1));
  EXPECT_EQ(bytes_of("gauge/u1_2d.vphi", "heatbath_y"), 4 * (4 + 2));
}

}  // namespace
}  // namespace vphi::audit
