// Launches of many steps of small systems are proved as all others are, and CUDA takes them.
#include <gtest/gtest.h>

#include "compiler/audit/audit.hpp"
#include "compiler/compile.hpp"
#include "runtime/device/cuda/nvrtc.hpp"
#include "runtime/device/device.hpp"
#include "tests/audit/ways.hpp"
#include "tests/support/places.hpp"

namespace vphi::audit {
namespace {

TEST(PersistentAudit, BranchFreeInEveryWay) {
  if (const AuditResult probe = audit("", program::Target::Native); !probe.available)
    GTEST_SKIP() << probe.reason;
  const bool nvrtc = !runtime::nvrtc_version().empty();
  struct Small {
    const char *model, *bodies;
    bool waits;  ///< of the groups in CUDA
  };
  for (const Small& small : {Small{"hmf", "600", false}, Small{"hmf", "2^17", true},
                             Small{"kuramoto", "2^17", true}, Small{"ring", "200", false}}) {
    CompileOptions options;
    options.set.emplace_back("N", small.bodies);
    for (const Way& way : ways()) {
      const Compilation c =
          compile_model(std::string(VPHI_SOURCE_DIR) + "/models/particles/" + small.model + ".vphi",
                        options, way.target);
      ASSERT_TRUE(c.program);
      const bool cuda = way.target.target == program::Target::Cuda;
      if (small.waits && !cuda) {  // several tasks, or more than a group takes
        EXPECT_TRUE(c.program->multi_step.empty());
        continue;
      }
      ASSERT_EQ(c.program->multi_step.size(), 1U) << way.name << " " << small.model;
      const program::Kernel& kernel =
          c.program->kernels[static_cast<std::size_t>(c.program->multi_step[0].kernel)];
      EXPECT_EQ(kernel.together, small.waits && cuda);
      const AuditResult result = audit(kernel.source, way.target.target);
      EXPECT_TRUE(result.available) << result.reason << "\n" << result.log;
      for (const std::string& violation : result.violations)
        ADD_FAILURE() << way.name << ", " << small.model << ": " << violation;
      if (!cuda || !nvrtc) continue;
      EXPECT_NO_THROW(runtime::nvrtc_compile(kernel.source, "sm_90"));
    }
  }
}

}  // namespace
}  // namespace vphi::audit
