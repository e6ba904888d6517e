// The compiler's cost of a site equals clang's count in the emitted text, for every kernel of every
// shipped model, in every dialect.
//
// The site function alone is compared: stencil sums, random numbers and the additions of reductions
// are in the pattern around it, for whose loops the audit does not count the iterations. Inputs,
// outputs, flops and special functions agree exactly, but for CUDA and NVIDIA's OpenCL in f32,
// where kernels have a reciprocal root as one instruction and not as a root and a division: one
// special function less for each.
#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/audit/audit.hpp"
#include "compiler/compile.hpp"
#include "compiler/emit/walks/lines.hpp"
#include "compiler/kernel/site_cost.hpp"
#include "tests/audit/ways.hpp"
#include "tests/support/places.hpp"

namespace vphi::audit {
namespace {

using program::Target;

class ModelCost : public ::testing::TestWithParam<std::string> {};

TEST_P(ModelCost, IsWhatTheTextHolds) {
  if (const AuditResult probe = audit("", Target::Native); !probe.available)
    GTEST_SKIP() << probe.reason;
  int compared = 0;
  for (const Way& way : ways()) {
    const Compilation compilation =
        compile_model(std::string(VPHI_SOURCE_DIR) + "/models/" + GetParam(), {}, way.target);
    if (!compilation.program) GTEST_SKIP() << "this model does not run yet";
    const auto& kernels = compilation.plan->kernels;
    ASSERT_EQ(kernels.size(), compilation.program->kernels.size());
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      if (!kernels[i].stages.empty()) continue;  // its stages are kernels of their own, compared so
      const program::Kernel& emitted = compilation.program->kernels[i];
      const AuditResult result = audit(emitted.source, way.target.target);
      const std::string where = std::string(way.name) + ", kernel " + emitted.name;
      ASSERT_TRUE(result.available) << where << ": " << result.reason << "\n" << result.log;
      const bool pairs = kernel::sums_pairs(kernels[i]);  // also functions of one site alone
      const auto site = std::find_if(
          result.functions.begin(), result.functions.end(), [&](const FunctionFacts& f) {
            return f.name.starts_with("vphi_site_") && (!pairs || f.name.ends_with("_pair"));
          });
      if (site == result.functions.end()) continue;  // scalars only
      kernel::Kernel counted = kernels[i];           // as it is walked
      if (const auto line = emit::lines_of(counted, way.target)) counted.along = line->axis;
      const kernel::SiteCost claimed = kernel::site_cost(counted);
      EXPECT_EQ(site->loads, claimed.inputs) << where;
      EXPECT_EQ(site->stores, claimed.outputs) << where;
      // A value that all paths share may take a sign with it when it is printed, and so may a sum
      // in the approximate arithmetic of GPUs.
      const int signs = kernels[i].common.empty() && !way.target.nvidia ? 0 : 2;
      const int clamps = way.target.target == Target::Cuda ? 2 * claimed.lookups : 0;
      const bool fast = way.target.nvidia && site->special != claimed.special;
      const int products = fast ? claimed.dividing_roots : 0;
      const int roots = fast ? claimed.reciprocal_roots + claimed.dividing_roots : 0;
      EXPECT_LE(site->flops, claimed.flops + products) << where;
      EXPECT_GE(site->flops, claimed.flops + products - signs - clamps) << where;
      EXPECT_EQ(site->special, claimed.special - roots) << where;
      EXPECT_GE(emitted.flops, claimed.flops) << where;
      EXPECT_GE(emitted.special, claimed.special - roots) << where;
      ++compared;
    }
  }
  EXPECT_GT(compared, 0) << "no site function was found, so nothing was compared";
}

// Words to and from memory: the arrays of the kernel, each once, and as the launch is bound to
// them.
TEST_P(ModelCost, BytesAreThoseOfTheArguments) {
  const Compilation compilation =
      compile_model(std::string(VPHI_SOURCE_DIR) + "/models/" + GetParam(), {}, ways()[0].target);
  if (!compilation.program) GTEST_SKIP() << "this model does not run yet";
  for (std::size_t i = 0; i < compilation.program->kernels.size(); ++i) {
    if (!compilation.plan->kernels[i].stages.empty()) continue;
    const program::Kernel& kernel = compilation.program->kernels[i];
    int written = 0, most = 0;
    for (const program::Argument& argument : kernel.arguments) {
      const bool array = argument.kind == program::Argument::Kind::Current ||
                         argument.kind == program::Argument::Kind::Next;
      if (!array) continue;
      written += argument.written;
      most += (argument.precision == program::Precision::F32 ? 4 : 8) * (argument.written ? 2 : 1);
    }
    EXPECT_EQ(kernel.stores, written) << kernel.name;
    EXPECT_LE(kernel.bytes, most) << kernel.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Shipped, ModelCost, ::testing::ValuesIn(models()), [](const auto& info) {
  std::string name = info.param;
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
});

}  // namespace
}  // namespace vphi::audit
