// Sites of a colour that share a block of random numbers: on a GPU one thread has them all and
// makes the block once. Every site has the number that it has elsewhere.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "tests/support/opencl_gpu.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::Simulation;

std::string spins(const std::string& lattice, const std::string& action) {
  return "model spins \"spins of two values\"\nparam K = 0.4\nsweep chain = 1..16\nlattice "
         "torus: " +
         lattice + "\nfield s: int, values = [-1, 1]\naction S = " + action +
         "\nsample heatbath, sweeps = 5\ninit s ~ hot\nprecision real = f64\n"
         "every 1 sweeps: mean(s) -> \"s.h5\"\n";
}

const program::Kernel& heatbath(const program::Program& program) {
  for (const program::Kernel& kernel : program.kernels)
    if (kernel.name == "heatbath_s") return kernel;
  throw std::runtime_error("no heatbath");
}

struct Case {
  const char *lattice, *action;
  const char* sites;  ///< of a thread
};

class SharedBlocks : public ::testing::TestWithParam<Case> {};

TEST_P(SharedBlocks, GiveEachSiteItsNumber) {
  if (!testing::device("opencl")) GTEST_SKIP() << "no OpenCL device";
  const Case& c = GetParam();
  const std::string text = spins(c.lattice, c.action);
  const Compilation gpu = testing::compile_for_gpu(text, testing::opencl_gpu(1));
  ASSERT_TRUE(gpu.program);
  EXPECT_NE(heatbath(*gpu.program).source.find("One thread " + std::string(c.sites)),
            std::string::npos);
  Simulation setup;
  setup.device = "opencl";
  setup.keep_state = true;
  const runtime::RunResult run = testing::run_program(*gpu.program, setup);
  ASSERT_FALSE(run.state.empty());
  setup.device = "native";
  EXPECT_EQ(run.state, testing::run_text(text, setup).state);
}

INSTANTIATE_TEST_SUITE_P(
    Lattices, SharedBlocks,
    ::testing::Values(Case{"[64, 34]", "-K*sum(s*s@k, k)", "4 sites"},  // colours along y
                      Case{"4096", "-K*s*s@x", "4 sites"},              // and along the only axis
                      Case{"[8, 8, 36]", "-K*sum(s*s@k, k)", "4 sites"},
                      Case{"[36, 32]", "-K*sum(s*s@k, k)",
                           "2 sites"},                                 // rows are half a group more
                      Case{"[34, 32]", "-K*sum(s*s@k, k)", "a site"},  // and are not whole blocks
                      Case{"[8, 8]", "-K*sum(s*s@k, k)", "a site"}));  // too few for the device

}  // namespace
}  // namespace vphi
