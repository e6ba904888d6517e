// Walks of a fluid as machine code of a GPU: no call, nothing spilled where cells go by.
#include <gtest/gtest.h>

#include "compiler/compile.hpp"
#include "runtime/device/nvrtc.hpp"
#include "tests/audit/machine.hpp"
#include "tests/audit/ways.hpp"
#include "tests/support/places.hpp"

namespace vphi::audit {
namespace {

class Walks : public testing::TestWithParam<const char*> {};

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

INSTANTIATE_TEST_SUITE_P(Fluid, Walks, testing::Values("f32", "f64"));

}  // namespace
}  // namespace vphi::audit
