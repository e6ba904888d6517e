// Walks of a fluid as machine code of a GPU: no call, nothing spilled where cells go by.
#include <gtest/gtest.h>

#include <chrono>
#include <regex>

#include "compiler/compile.hpp"
#include "runtime/device/device.hpp"
#include "runtime/device/nvrtc.hpp"
#include "tests/audit/ways.hpp"
#include "tests/support/places.hpp"

namespace vphi::audit {
namespace {

struct Machine {
  std::string log;
  bool calls = false;
  int spilled = -1;  ///< bytes of stores
};

Machine compiled(const std::string& source) {
  // the compiler is silent about registers of what it has compiled before
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  Machine out;
  const std::string cubin = runtime::nvrtc_compile(
      source + "\n__device__ int vphi_unseen_" + std::to_string(now) + ";\n", "sm_90", &out.log);
  // functions of the toolkit that a kernel calls have names of their own
  out.calls = cubin.find("$__internal") != std::string::npos;
  std::smatch found;
  if (std::regex_search(out.log, found, std::regex("([0-9]+) bytes spill stores")))
    out.spilled = std::stoi(found[1]);
  return out;
}

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
