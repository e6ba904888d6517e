// Sweeps that are divided because a march of a GPU has registers for fewer arrays: what they
// compute stays the same, and each is a march.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "compiler/algebra/transform.hpp"
#include "compiler/interpret/interpret.hpp"
#include "compiler/schedule/steps/wide_sweeps.hpp"
#include "tests/support/opencl_gpu.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::Simulation;

/// Three fields and the six components of what their gradients make.
std::string waves_of_three(const std::string& lattice) {
  return "model three \"waves of three fields\"\nlattice box: " + lattice +
         ", spacing = 0.5\nmetric frw(a)\nfield phi, chi, psi: real\nfield u: sym(3)\n"
         "potential V = (phi^2 + chi^2 + psi^2)/2 + phi^2*chi^2*psi^2\n"
         "u'' = lap(u)/a^2 - 3*H*u' + 2/a^2*(outer(grad(phi), grad(phi)) + "
         "outer(grad(chi), grad(chi)) + outer(grad(psi), grad(psi)))\n"
         "init phi = 1 + 0.1*sin(pi*x), phi' = 0, chi = 0.2*cos(pi*y), chi' = 0,\n"
         "     psi = 0.3*sin(pi*z), psi' = 0.1, u = 0, u' = 0\n"
         "evolve leapfrog, dt = 0.05, until = t > 0.07\nevery 1 steps: mean(phi^2), a -> "
         "\"t.h5\"\n";
}

std::set<int> read_at_neighbours(const kernel::Kernel& kernel) {
  std::set<int> arrays;
  for (const algebra::Expr leaf : algebra::reads(kernel.values())) {
    if (leaf.is(algebra::Op::Stencil)) arrays.insert(leaf.arg(0)->index);
    if (leaf.is(algebra::Op::Load) && leaf->offset != algebra::Offset{}) arrays.insert(leaf->index);
  }
  return arrays;
}

std::vector<std::vector<double>> state_after(const schedule::Plan& plan, int steps) {
  kernel::Interpreter run(plan);
  run.start();
  for (int i = 0; i < steps; ++i) run.step();
  std::vector<std::vector<double>> state;
  for (const program::Buffer& buffer : plan.program.buffers)
    if (buffer.state) state.push_back(run.buffer(buffer.name));
  return state;
}

TEST(WideSweeps, DividedOnesGiveTheSameBits) {
  const Compilation whole = testing::compile_text(waves_of_three("6 * 4 * 5"), {});
  for (const std::size_t most : {5U, 6U}) {
    schedule::Plan divided = *whole.plan;
    const auto narrow = [&](const kernel::Kernel& kernel) {
      return read_at_neighbours(kernel).size() <= most;
    };
    schedule::divide_wide_sweeps(divided, narrow, 0);
    const std::size_t added = divided.kernels.size() - whole.plan->kernels.size();
    // the three fields have sums in common and are one sweep, with components up to the limit;
    // other sweeps read the three fields again
    EXPECT_EQ(added, most == 5 ? 2U : 1U) << most;
    for (const program::Launch& launch : divided.program.step)
      EXPECT_LE(read_at_neighbours(divided.kernels[static_cast<std::size_t>(launch.kernel)]).size(),
                most);
    EXPECT_EQ(state_after(divided, 3), state_after(*whole.plan, 3)) << most;
  }
}

TEST(WideSweeps, StayWholeWhereNothingIsGained) {
  const Compilation whole = testing::compile_text(waves_of_three("6 * 4 * 5"), {});
  const auto kernels_after = [&](const auto& marches, std::int64_t least_bytes) {
    schedule::Plan divided = *whole.plan;
    schedule::divide_wide_sweeps(divided, marches, least_bytes);
    return divided.kernels.size();
  };
  const std::size_t before = whole.plan->kernels.size();
  const auto never = [](const kernel::Kernel&) { return false; };
  const auto always = [](const kernel::Kernel&) { return true; };
  const auto single = [](const kernel::Kernel& k) { return read_at_neighbours(k).size() <= 3; };
  const auto one_by_one = [](const kernel::Kernel& k) { return read_at_neighbours(k).size() <= 4; };
  EXPECT_EQ(kernels_after(never, 0), before);
  EXPECT_EQ(kernels_after(always, 0), before);
  EXPECT_EQ(kernels_after(single, 0), before);  // no component is a march
  // 12 numbers for the fields and 7 for each component, in place of 36
  EXPECT_EQ(kernels_after(one_by_one, 0), before);
  EXPECT_EQ(kernels_after([](const kernel::Kernel& k) { return read_at_neighbours(k).size() <= 5; },
                          schedule::kLeastBytesOfWideSweep),
            before);  // a small lattice
}

TEST(WideSweeps, AreMarchesOnAGpu) {
  if (!testing::device("opencl")) GTEST_SKIP() << "no OpenCL device";
  const std::string text = waves_of_three("64 * 64 * 32");
  const Compilation gpu = testing::compile_for_gpu(text, testing::opencl_gpu(4));
  ASSERT_TRUE(gpu.program);
  EXPECT_GT(gpu.program->step.size(), 1U);
  for (const program::Launch& launch : gpu.program->step)
    EXPECT_NE(gpu.program->kernels[static_cast<std::size_t>(launch.kernel)].source.find(
                  "vphi_copy_vector"),
              std::string::npos);
  Simulation setup;
  setup.device = "opencl";
  setup.keep_state = true;
  const runtime::RunResult run = testing::run_program(*gpu.program, setup);
  setup.device = "native";
  const runtime::RunResult expected = testing::run_text(text, setup);
  for (const char* scalar : {"a", "mean(phi^2)"})
    EXPECT_NEAR(testing::last(run, scalar), testing::last(expected, scalar), 1e-13) << scalar;
  ASSERT_EQ(run.state.size(), expected.state.size());
  double most = 0;
  for (std::size_t i = 0; i < run.state.size(); ++i) {
    ASSERT_EQ(run.state[i].size(), expected.state[i].size());
    for (std::size_t k = 0; k < run.state[i].size(); ++k)
      most = std::max(most, std::abs(run.state[i][k] - expected.state[i][k]));
  }
  EXPECT_LT(most, 1e-13);
}

}  // namespace
}  // namespace vphi
