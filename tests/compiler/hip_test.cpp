// HIP is a dialect without a runtime: its text compiles for AMD's GPUs, and nothing runs it here.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "compiler/compile.hpp"
#include "tests/support/places.hpp"
#include "tests/support/scratch.hpp"

namespace vphi {
namespace {

std::pair<int, std::string> output_of(const std::string& command) {
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (!pipe) return {-1, "popen failed"};
  std::string text;
  for (char part[4096]; const auto n = std::fread(part, 1, sizeof part, pipe);)
    text.append(part, n);
  return {pclose(pipe), text};
}

/// A clang that writes code for AMD's GPUs; empty where there is none.
std::string amd_clang() {
  for (const char* name : {"clang++-19", "clang++-18", "clang++-17", "clang++"})
    if (output_of(std::string(name) + " --print-targets").second.find("amdgcn") !=
        std::string::npos)
      return name;
  return {};
}

struct Shipped {
  const char* model;
  std::int64_t batch;
  const char* pattern;  ///< for the test's name
};

class Hip : public ::testing::TestWithParam<Shipped> {};

TEST_P(Hip, TextCompiles) {
  const std::string clang = amd_clang();
  if (clang.empty()) GTEST_SKIP() << "no clang++ with the target amdgcn is here";
  emit::TargetInfo target;
  target.target = program::Target::Hip;
  target.is_cpu = false;
  target.compute_units = 104;
  target.local_bytes = 64 * 1024;
  CompileOptions options;
  options.batch = GetParam().batch;
  const std::string model = std::string(VPHI_SOURCE_DIR) + "/models/" + GetParam().model;
  const Compilation compilation = compile_model(model, options, target);
  ASSERT_TRUE(compilation.program);
  EXPECT_EQ(compilation.program->target, program::Target::Hip);
  const testing::ScratchFolder folder;
  const std::string file = (folder / "kernel.hip").string();
  for (const program::Kernel& kernel : compilation.program->kernels) {
    std::ofstream(file) << kernel.source;
    const auto [status, said] = output_of(
        clang + " -x hip -nogpulib -nogpuinc --offload-arch=gfx90a --cuda-device-only -O1 -S -o " +
        file + ".s " + file);
    EXPECT_EQ(status, 0) << kernel.name << "\n" << said;
  }
  // A text that calls what the prelude does not bring must not pass.
  std::ofstream(file) << compilation.program->kernels.front().source
                      << "VPHI_INLINE void vphi_wrong(void) { vphi_there_is_none(); }\n";
  EXPECT_NE(output_of(clang + " -x hip -nogpulib -nogpuinc --offload-arch=gfx90a " +
                      "--cuda-device-only -fsyntax-only " + file)
                .first,
            0);
}

INSTANTIATE_TEST_SUITE_P(Models, Hip,
                         ::testing::Values(Shipped{"cosmology/preheating.vphi", 0, "March"},
                                           Shipped{"../tests/audit/closed_fluid.vphi", 0, "Lines"},
                                           Shipped{"particles/hmf.vphi", 0, "Rounds"},
                                           Shipped{"particles/ring.vphi", 0, "Pairs"},
                                           Shipped{"noise/langevin.vphi", 5000, "Paths"},
                                           Shipped{"gauge/su2_2d.vphi", 0, "Colours"},
                                           Shipped{"teaching/wave.vphi", 0, "Sites"}),
                         [](const auto& test) { return std::string(test.param.pattern); });

}  // namespace
}  // namespace vphi
