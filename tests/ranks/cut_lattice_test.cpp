// Lattices that ranks share, one model of each family: the same bits as on one device. All shipped
// models: tests/long/cut_test.cpp.
#include <gtest/gtest.h>

#include <fstream>

#include "runtime/device/cuda/nvrtc.hpp"
#include "tests/support/cut_ranks.hpp"
#include "tests/support/model_name.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

class CutLattice : public ::testing::TestWithParam<const char*> {};

TEST_P(CutLattice, HasTheBitsOfOneDevice) {
  for (const int ranks : {2, 3}) {
    const auto result = testing::cut_and_compare(testing::shipped(GetParam()), ranks);
    EXPECT_EQ(result.refused, "") << ranks;
    EXPECT_EQ(result.differs, "") << ranks;
  }
}

/// Sums of a GPU's groups are added in another order on one device: the numbers agree to rounding.
class CutAsOnGpu : public ::testing::TestWithParam<const char*> {};

TEST_P(CutAsOnGpu, AgreesWithOneDevice) {
  if (testing::device("opencl") == nullptr) GTEST_SKIP() << "no OpenCL device";
  const testing::CutSetup setup{"opencl", true, "f64", 1e-11};
  const auto result = testing::cut_and_compare(testing::shipped(GetParam()), 3, setup);
  EXPECT_EQ(result.refused, "");
  EXPECT_EQ(result.differs, "");
}

TEST(CutOnOpenCl, AProcessorHasTheNumbersOfOneDevice) {
  if (testing::device("opencl") == nullptr) GTEST_SKIP() << "no OpenCL device";
  const testing::CutSetup setup{"opencl", false, "f64", 1e-11};
  const auto result = testing::cut_and_compare(testing::shipped("cosmology/preheating"), 3, setup);
  EXPECT_EQ(result.refused, "");
  EXPECT_EQ(result.differs, "");
}

INSTANTIATE_TEST_SUITE_P(Patterns, CutAsOnGpu,
                         ::testing::Values("cosmology/lphi4", "cosmology/preheating",
                                           "noise/thermal", "teaching/drum", "gauge/u1_2d",
                                           "hydro/gubser"),
                         testing::model_name);

/// Walks along lines: across the cut, and along it, where ghosts are cells of the lines. 3 ranks
/// have different numbers of planes.
TEST(CutAsOnGpuWalks, AgreeWithOneDevice) {
  if (testing::device("opencl") == nullptr) GTEST_SKIP() << "no OpenCL device";
  const testing::ScratchFolder folder;
  const std::string path = (folder / "blown.vphi").string();
  std::ofstream(path) << R"(model blown "A density that the wind carries across a box, SHASTA"
lattice box: 48^3, length = 1, boundary = outflow
primitive n: real
conserve N = n: div(N*[0.3, 0.2, -0.25])
recover { n = N }
scheme shasta, mask = 1, half_step = on
split [xyz, zyx]
evolve scheme, dt = 0.3*dx, until = t > 1
init n = (1 if r < 0.3 else 0.1)
every 10 steps: total(N), max(n) -> "blown.h5"
)";
  const auto result = testing::cut_and_compare(path, 3, {"opencl", true, "f64", 1e-11});
  EXPECT_EQ(result.refused, "");
  EXPECT_EQ(result.differs, "");
}

TEST(CutForCuda, EveryKernelCompiles) {
  if (runtime::nvrtc_version().empty()) GTEST_SKIP() << "no NVRTC";
  emit::TargetInfo cuda;
  cuda.target = program::Target::Cuda;
  cuda.is_cpu = false;
  CompileOptions options;
  options.ranks = 3, options.rank = 1, options.batch = 1;
  for (const char* model :
       {"cosmology/preheating", "noise/thermal", "gauge/su2_2d", "hydro/fireball"}) {
    const Compilation c = compile_model(testing::shipped(model), options, cuda);
    ASSERT_TRUE(c.program) << model;
    for (const program::Kernel& kernel : c.program->kernels) {
      std::string log;
      EXPECT_NO_THROW(runtime::nvrtc_compile(kernel.source, "sm_90", &log)) << log;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Families, CutLattice,
                         ::testing::Values("cosmology/lphi4", "cosmology/walls",
                                           "cosmology/preheating", "cosmology/gw_lphi4",
                                           "noise/thermal", "teaching/drum", "gauge/u1_2d",
                                           "hydro/gubser"),
                         testing::model_name);

}  // namespace
}  // namespace vphi
