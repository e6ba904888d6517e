// The instructions that the limit of a kernel counts beside those of its machine code.
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <string>

#include "compiler/compile.hpp"
#include "runtime/device/cuda/nvrtc.hpp"
#include "tests/audit/machine.hpp"
#include "tests/audit/ways.hpp"

namespace vphi::audit {
namespace {

struct Issued {
  const char* model;
  const char* lattice;
  const char* kernel;
  int most;  ///< machine instructions of a site
};

void PrintTo(const Issued& row, std::ostream* out) { *out << row.model << ' ' << row.kernel; }

Compilation compiled_for_gpu(const std::string& file, const char* lattice) {
  CompileOptions options;
  options.precision = "f32";
  options.lattice = lattice;
  emit::TargetInfo target = ways().back().target;
  target.compute_units = 132;
  return compile_model(std::string(VPHI_SOURCE_DIR) + "/" + file + ".vphi", options, target);
}

class IssuedInstructions : public ::testing::TestWithParam<Issued> {};

// Of sites of a colour the places and reads are counted: what is predicted is at most what the
// machine code has, and at least half of it. A thread has some of its own, before its sites.
TEST_P(IssuedInstructions, ArePredicted) {
  if (std::string why; runtime::nvrtc_version(&why).empty()) GTEST_SKIP() << why;
  const Issued& row = GetParam();
  const Compilation compilation = compiled_for_gpu(std::string("models/") + row.model, row.lattice);
  ASSERT_TRUE(compilation.program);
  int seen = 0;
  for (const program::Kernel& kernel : compilation.program->kernels) {
    if (kernel.name != row.kernel) continue;
    const Machine machine = compiled(kernel.source);
    EXPECT_EQ(machine.spilled, 0) << machine.log;
    EXPECT_LE(machine.registers, 64) << machine.log;
    const double threads = double(kernel.grid[0]) * kernel.block[0];
    const double sites = std::max(1.0, static_cast<double>(kernel.sites) / threads);
    constexpr int kOfThread = 60;
    const double of_site = (machine.instructions - kOfThread) / sites;
    EXPECT_GE(kernel.instructions, 0.5 * of_site) << machine.instructions << ", " << sites;
    EXPECT_LE(kernel.instructions, of_site) << machine.instructions << ", " << sites;
    EXPECT_LE(of_site, row.most);
    ++seen;
  }
  EXPECT_EQ(seen, 1);
}

// Sites with much work are one thread's each: four of them would not fit its registers.
TEST(IssuedInstructionsOf, ManyValuesDoNotSpill) {
  if (std::string why; runtime::nvrtc_version(&why).empty()) GTEST_SKIP() << why;
  const Compilation compilation = compiled_for_gpu("tests/audit/many_values", "");
  ASSERT_TRUE(compilation.program);
  int seen = 0;
  for (const program::Kernel& kernel : compilation.program->kernels) {
    if (kernel.name != "heatbath_s" && kernel.name != "reorder_s") continue;
    EXPECT_EQ(compiled(kernel.source).spilled, 0) << kernel.name;
    ++seen;
  }
  EXPECT_EQ(seen, 2);
}

INSTANTIATE_TEST_SUITE_P(Kernels, IssuedInstructions,
                         ::testing::Values(Issued{"spins/xy", "768^2", "heatbath_th", 200},
                                           Issued{"spins/xy", "768^2", "overrelax_th", 80},
                                           Issued{"spins/ising", "512^2", "heatbath_s", 65},
                                           Issued{"gauge/z2", "128^3", "heatbath_x", 200}));

}  // namespace
}  // namespace vphi::audit
