// Every kernel of every shipped model, in every dialect: proved branch-free, costs what the
// compiler says, CUDA accepts it, and its numbers fit the registers of a GPU.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

#include "compiler/audit/audit.hpp"
#include "compiler/compile.hpp"
#include "runtime/device/cuda/cuda.hpp"
#include "runtime/device/cuda/nvrtc.hpp"
#include "runtime/device/device.hpp"
#include "tests/audit/cost_check.hpp"
#include "tests/audit/machine.hpp"
#include "tests/audit/spills.hpp"
#include "tests/audit/ways.hpp"
#include "tests/support/places.hpp"

namespace vphi::audit {
namespace {

using program::Target;

/// Updates of matrices in four dimensions are thousands of operations, one kernel for each
/// direction and all alike: NVRTC compiles the first of them.
bool left_out(const program::Kernel& kernel) {
  constexpr int kLarge = 2000, kTooLarge = 10000;  // for NVRTC, in a quick test
  if (kernel.flops < kLarge) return false;
  if (kernel.flops > kTooLarge) return true;
  return !kernel.name.ends_with("_x") && kernel.name.find('_') != std::string::npos;
}

void expect_fits(const std::string& model, const program::Kernel& kernel,
                 const std::string& where) {
  try {
    const Machine machine = compiled(kernel.source);
    EXPECT_GE(machine.spilled, 0) << where << machine.log;
    EXPECT_LE(machine.spilled, spilled_at_most(model, kernel.name)) << where << machine.log;
  } catch (const runtime::DeviceError& error) {
    ADD_FAILURE() << where << error.what() << "\n" << error.log;
  }
}

class ModelAudit : public ::testing::TestWithParam<std::string> {};

TEST_P(ModelAudit, KernelsAreBranchFreeCountedAndCompile) {
  if (const AuditResult probe = audit("", Target::Native); !probe.available)
    GTEST_SKIP() << probe.reason;
  const bool nvrtc = !runtime::nvrtc_version().empty();
  std::map<std::pair<Target, std::string>, AuditResult> read;  // two ways may have the same text
  int compared = 0;
  for (const Way& way : ways()) {
    const Target target = way.target.target;
    const Compilation compilation =
        compile_model(std::string(VPHI_SOURCE_DIR) + "/models/" + GetParam(), {}, way.target);
    if (!compilation.program) GTEST_SKIP() << "this model does not run yet";
    const auto& planned = compilation.plan->kernels;
    ASSERT_EQ(planned.size(), compilation.program->kernels.size());
    int sites = 0;
    for (std::size_t i = 0; i < planned.size(); ++i) {
      const program::Kernel& kernel = compilation.program->kernels[i];
      AuditResult& result = read[{target, kernel.source}];
      if (!result.available) result = audit(kernel.source, target);
      const std::string where = std::string(way.name) + ", kernel " + kernel.name + ": ";
      ASSERT_TRUE(result.available) << where << result.reason << "\n" << result.log;
      for (const std::string& violation : result.violations) ADD_FAILURE() << where << violation;
      for (const FunctionFacts& function : result.functions) sites += function.site;
      compared += compare_cost(planned[i], kernel, result, way, where);
      if (target == Target::Native) compare_bytes(planned[i], kernel);
      if (target != Target::Cuda) continue;
      EXPECT_NE(kernel.source.find(runtime::kAwait), std::string::npos)
          << where << "it does not begin while the launch before it ends";
      if (nvrtc && !left_out(kernel)) expect_fits(GetParam(), kernel, where);
    }
    EXPECT_GT(sites, 0) << way.name << ": no site function was found, so nothing was proved";
  }
  EXPECT_GT(compared, 0) << "no site function was found, so no cost was compared";
}

INSTANTIATE_TEST_SUITE_P(Shipped, ModelAudit, ::testing::ValuesIn(models()), [](const auto& info) {
  std::string name = info.param;
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
});

// In f64 a few models whose kernels compile fast: their launch bounds follow from counts.
class ModelsInDouble : public ::testing::TestWithParam<const char*> {};

TEST_P(ModelsInDouble, SpillNothing) {
  if (std::string why; runtime::nvrtc_version(&why).empty()) GTEST_SKIP() << why;
  constexpr int kMostFlops = 1000;
  CompileOptions options;
  options.precision = "f64";
  const Compilation compilation = compile_model(
      std::string(VPHI_SOURCE_DIR) + "/models/" + GetParam(), options, ways().back().target);
  ASSERT_TRUE(compilation.program);
  int seen = 0;
  for (const program::Kernel& kernel : compilation.program->kernels) {
    if (kernel.flops == 0 || kernel.flops > kMostFlops) continue;
    const Machine machine = compiled(kernel.source);
    EXPECT_GE(machine.spilled, 0) << kernel.name << machine.log;
    EXPECT_LE(machine.spilled, spilled_at_most(GetParam(), kernel.name))
        << kernel.name << machine.log;
    ++seen;
  }
  EXPECT_GT(seen, 0);
}

INSTANTIATE_TEST_SUITE_P(Shipped, ModelsInDouble,
                         ::testing::Values("noise/doublewell.vphi", "noise/josephson.vphi",
                                           "noise/langevin.vphi", "teaching/resonance.vphi",
                                           "cosmology/curvaton_folds.vphi",
                                           "cosmology/higgs_u1.vphi"));

// A suite in which every model was skipped would prove nothing.
TEST(ModelAudits, TheModelsThatRunAreAmongThem) {
  for (const char* name :
       {"cosmology/preheating.vphi", "cosmology/lphi4.vphi", "cosmology/curvaton.vphi",
        "cosmology/qball.vphi", "teaching/wave.vphi", "teaching/sine_gordon.vphi"}) {
    const Compilation compilation =
        compile_model(std::string(VPHI_SOURCE_DIR) + "/models/" + name, {}, ways()[0].target);
    EXPECT_TRUE(compilation.program) << name;
  }
}

}  // namespace
}  // namespace vphi::audit
