// Walks of a fluid as machine code of a GPU: no call, nothing spilled where cells go by.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "compiler/audit/audit.hpp"
#include "compiler/compile.hpp"
#include "compiler/emit/walks/lines_tile.hpp"
#include "runtime/device/cuda/nvrtc.hpp"
#include "tests/audit/cost_check.hpp"
#include "tests/audit/machine.hpp"
#include "tests/audit/ways.hpp"
#include "tests/support/places.hpp"
#include "tests/support/scratch.hpp"

namespace vphi::audit {
namespace {

class Walks : public ::testing::TestWithParam<const char*> {};

TEST_P(Walks, HaveNoCallAndNoSpill) {
  if (std::string why; runtime::nvrtc_version(&why).empty()) GTEST_SKIP() << why;
  CompileOptions options;
  options.precision = GetParam();
  emit::TargetInfo target = ways().back().target;
  target.compute_units = 132;
  const std::string model = std::string(VPHI_SOURCE_DIR) + "/tests/audit/closed_fluid.vphi";
  const Compilation compilation = compile_model(model, options, target);
  ASSERT_TRUE(compilation.program);
  int seen = 0;
  for (const program::Kernel& kernel : compilation.program->kernels) {
    if (kernel.name != "along_x" && kernel.name != "along_z") continue;
    const Machine machine = compiled(kernel.source);
    EXPECT_FALSE(machine.calls) << kernel.name;
    // in f64 a few numbers of the loop itself, read once a turn of four cells
    EXPECT_LE(machine.spilled, options.precision == "f64" ? 48 : 0) << machine.log;
    EXPECT_GE(machine.spilled, 0) << machine.log;
    ++seen;
  }
  EXPECT_EQ(seen, 2);
}

// In f32 quotients and roots are written out where sites are computed one by one or marched through
// too. A device of one processor makes these lines in tiles, one of 132 marches through them.
TEST(Fluxes, SinglePrecisionCallsNothing) {
  if (std::string why; runtime::nvrtc_version(&why).empty()) GTEST_SKIP() << why;
  struct Row {
    const char* model;
    const char* lattice;
    int units;
  };
  for (const Row& row : {Row{"euler", "20000", 1}, {"euler", "20000", 132}, {"gubser", "", 132}}) {
    CompileOptions options;
    options.precision = "f32";
    options.lattice = row.lattice;
    emit::TargetInfo target = ways().back().target;
    target.compute_units = row.units;
    const std::string model = std::string(VPHI_SOURCE_DIR) + "/models/hydro/" + row.model + ".vphi";
    const Compilation compilation = compile_model(model, options, target);
    ASSERT_TRUE(compilation.program) << row.model;
    int seen = 0;
    for (const program::Kernel& kernel : compilation.program->kernels) {
      if (!kernel.name.starts_with("sweep")) continue;
      const Machine machine = compiled(kernel.source);
      EXPECT_FALSE(machine.calls) << row.model << ' ' << kernel.name;
      // of a tile a few numbers between phases
      EXPECT_LE(machine.spilled, row.units == 1 ? 16 : 0) << machine.log;
      ++seen;
    }
    EXPECT_EQ(seen, 2) << row.model << ' ' << row.units;
  }
}

// The phases of a tile have no branch but iterations that end early, and make what a walk makes.
TEST_P(Walks, TilesAreBranchFreeAndCounted) {
  if (const AuditResult probe = audit("", program::Target::Native); !probe.available)
    GTEST_SKIP() << probe.reason;
  for (const char* name : {"euler", "shock", "synge", "sedov"}) {
    CompileOptions options;
    options.precision = GetParam();
    options.lattice = "20000";
    int tiles = 0, compared = 0;
    for (Way way : ways()) {
      if (!way.target.nvidia) continue;
      way.target.compute_units = 1;
      const Compilation compilation = compile_model(
          std::string(VPHI_SOURCE_DIR) + "/models/hydro/" + name + ".vphi", options, way.target);
      ASSERT_TRUE(compilation.program) << name;
      for (std::size_t i = 0; i < compilation.plan->kernels.size(); ++i) {
        const kernel::Kernel& planned = compilation.plan->kernels[i];
        if (!planned.stages.empty()) continue;
        const auto line = emit::lines_of(planned, way.target);
        if (!line || !emit::tile_of(planned, *line, way.target)) continue;
        const program::Kernel& kernel = compilation.program->kernels[i];
        const AuditResult result = audit(kernel.source, way.target.target);
        const std::string where = std::string(name) + ", " + way.name + ": " + kernel.name;
        ASSERT_TRUE(result.available) << where << result.reason << "\n" << result.log;
        for (const std::string& violation : result.violations) ADD_FAILURE() << where << violation;
        compared += compare_cost(planned, kernel, result, way, where);
        ++tiles;
      }
    }
    EXPECT_EQ(tiles, 4) << name;  // two stages, in two languages
    const bool iterates = std::string(name) == "shock" || std::string(name) == "synge";
    EXPECT_EQ(compared, iterates ? 0 : 4) << name;
  }
}

// Tables of one and of two arguments in the rounds of a solve: integers as places, no conversion.
TEST_P(Walks, ReadTablesWithoutABranch) {
  if (const AuditResult probe = audit("", program::Target::Native); !probe.available)
    GTEST_SKIP() << probe.reason;
  const testing::ScratchFolder folder;
  std::ofstream lines(folder / "lines.txt"), planes(folder / "planes.txt");
  for (int i = 0; i <= 20; ++i) {
    lines << 0.5 * i << ' ' << 0.5 * i / 3 + 0.01 * i * i << '\n';
    for (int j = 0; j <= 10; ++j)
      planes << 0.5 * i << ' ' << 0.5 * j << ' ' << 1e-3 * i * j << '\n';
  }
  lines.close(), planes.close();
  std::ifstream closed(std::string(VPHI_SOURCE_DIR) + "/tests/audit/closed_fluid.vphi");
  std::string text{std::istreambuf_iterator<char>(closed), {}};
  const auto replaced = [&](const std::string& from, const std::string& to) {
    ASSERT_NE(text.find(from), std::string::npos) << from;
    text.replace(text.find(from), from.size(), to);
  };
  replaced("= eps/3",
           "= table(\"lines.txt\", eps, order = 1, outside = eps/3) + "
           "table(\"planes.txt:3\", eps, rho, outside = 0)");
  replaced("max = 16", "max = 2");
  const std::string model = (folder / "tables.vphi").string();
  std::ofstream(model) << text;
  CompileOptions options;
  options.precision = GetParam();
  for (const Way& way : ways()) {
    if (!way.target.nvidia) continue;
    const Compilation compilation = compile_model(model, options, way.target);
    ASSERT_TRUE(compilation.program) << way.name;
    int seen = 0;
    for (const program::Kernel& kernel : compilation.program->kernels) {
      if (kernel.name != "along_z") continue;
      ++seen;
      const AuditResult result = audit(kernel.source, way.target.target);
      ASSERT_TRUE(result.available) << way.name << result.reason << "\n" << result.log;
      for (const std::string& violation : result.violations) ADD_FAILURE() << way.name << violation;
      EXPECT_NE(kernel.source.find("const int place_1"), std::string::npos) << way.name;
      if (way.target.target != program::Target::Cuda || runtime::nvrtc_version().empty()) continue;
      EXPECT_FALSE(compiled(kernel.source).calls);
    }
    EXPECT_EQ(seen, 1) << way.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Fluid, Walks, ::testing::Values("f32", "f64"));

}  // namespace
}  // namespace vphi::audit
