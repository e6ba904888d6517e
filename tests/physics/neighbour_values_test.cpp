// Values that neighbouring sites share: a sweep before computes them once a site, and the numbers
// stay the same, bit for bit, or to rounding where terms of sums stand in another order.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "compiler/interpret/interpret.hpp"
#include "compiler/kernel/kernel.hpp"
#include "compiler/kernel/neighbour_values.hpp"
#include "compiler/schedule/steps/neighbour_values.hpp"
#include "tests/support/opencl_gpu.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using schedule::Walked;
using testing::Simulation;

/// A field with a factor G(phi) in its gradient energy, which reads G at both ends of every bond. G
/// has a root, an exponential and a division.
std::string curved(const std::string& lattice, const std::string& precision = "f64") {
  return "model curved \"a metric of field space\"\nlattice box: " + lattice +
         "\nfield phi, p: real\nG = exp(-phi^2)/sqrt(1 + phi^2)\n"
         "H = total(p^2/(2*G) + G*norm2(grad(phi))/2 + phi^4/4)\n"
         "init phi = 1 + 0.3*sin(2*pi*x/3) + 0.2*cos(2*pi*y/2), p = 0.1\n"
         "evolve rk4, dt = 0.02, until = t > 0.07\nprecision real = " +
         precision + "\nevery 1 steps: mean(phi^2), mean(p^2) -> \"t.h5\"\n";
}

/// Diffusion with a current that is not linear.
std::string diffusion(const std::string& boundary) {
  return "model diffusion \"a current that is not linear\"\nlattice box: 6 * 4 * 5, spacing = "
         "0.5, boundary = " +
         boundary +
         "\nfield u: real\nF = exp(-u^2)/sqrt(1 + u^2)\nu' = lap(F)\n"
         "init u = 1 + 0.3*sin(x + 0.4) + 0.2*cos(2*y + 0.1)\n"
         "evolve heun, dt = 0.01, until = t > 0.07\nevery 1 steps: mean(u^2) -> \"t.h5\"\n";
}

/// A gas in two dimensions: the flux through a face belongs to two cells.
std::string gas(const std::string& boundary) {
  return "model gas \"an isothermal gas\"\nlattice plane: [12, 10], spacing = 0.1, boundary = " +
         boundary +
         "\nprimitive n: real, v: vec(2)\nconserve N = n: div(n*v)\n"
         "conserve M = n*v: div(M*v) + grad(n)\nrecover {\n  n = N\n  v = M/N\n}\n"
         "speed[i] = abs(v[i]) + 1\nscheme kt, speed = speed, theta = 1.5\n"
         "evolve heun, dt = 0.01, until = t > 0.05\n"
         "init n = 1 + 0.3*exp(-20*((x - 0.5)^2 + (y - 0.4)^2)), v = [0.1, 0.2]\n"
         "every 1 steps: mean(n^2) -> \"t.h5\"\n";
}

Walked by_sites(const kernel::Kernel&) { return Walked::Sites; }

schedule::Plan divided(const schedule::Plan& whole, std::int64_t least_bytes = 0) {
  schedule::Plan plan = whole;
  schedule::store_neighbour_values(plan, by_sites, least_bytes);
  return plan;
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

/// Divisions, roots and functions of a step at a site.
int special_of_step(const schedule::Plan& plan) {
  int special = 0;
  for (const program::Launch& launch : plan.program.step)
    special += kernel::cost(plan.kernels[static_cast<std::size_t>(launch.kernel)]).special;
  return special;
}

TEST(NeighbourValues, AreStoredWithTheSameBits) {
  for (const char* precision : {"f64", "f32"}) {
    const Compilation compiled =
        testing::compile_text(curved("6 * 4 * 5, spacing = 0.5", precision), {});
    const schedule::Plan& whole = *compiled.plan;
    const schedule::Plan plan = divided(whole);
    EXPECT_GT(plan.kernels.size(), whole.kernels.size()) << precision;
    EXPECT_EQ(plan.program.step.size() - whole.program.step.size(),
              plan.kernels.size() - whole.kernels.size());
    ASSERT_FALSE(plan.remarks.empty());
    EXPECT_NE(plan.remarks.back().find("computed once a site"), std::string::npos);
    EXPECT_EQ(state_after(plan, 3), state_after(whole, 3)) << precision;
  }
}

TEST(NeighbourValues, AreComputedOnceASite) {
  const Compilation compiled = testing::compile_text(diffusion("periodic"), {});
  const schedule::Plan& whole = *compiled.plan;
  // each of the two rates has the current, with three functions, at the site and its neighbours
  constexpr int kRates = 2, kPoints = 7, kSpecial = 3;
  EXPECT_EQ(special_of_step(whole), kRates * kPoints * kSpecial);
  // once to be stored for the neighbours, and once at the site, where its coefficient is another
  // one
  EXPECT_EQ(special_of_step(divided(whole)), kRates * 2 * kSpecial);
}

TEST(NeighbourValues, OfShippedModel) {
  Simulation setup;
  setup.lattice = "8^3";
  const Compilation compiled =
      testing::compile_file(testing::shipped("cosmology/nonminimal"), setup);
  ASSERT_TRUE(compiled.plan);
  const schedule::Plan plan = divided(*compiled.plan);
  EXPECT_EQ(special_of_step(*compiled.plan), 64);
  EXPECT_EQ(special_of_step(plan), 40);
  EXPECT_EQ(state_after(plan, 2), state_after(*compiled.plan, 2));
}

/// B of an axion's H stands in the force at every neighbour, its terms in another order each time.
TEST(NeighbourValues, WhoseTermsHaveAnotherOrder) {
  Simulation setup;
  setup.lattice = "8^3";
  const Compilation compiled = testing::compile_file(testing::shipped("cosmology/axion_u1"), setup);
  ASSERT_TRUE(compiled.plan);
  const schedule::Plan plan = divided(*compiled.plan);
  const auto flops = [](const schedule::Plan& of) {
    int sum = 0;
    for (const program::Launch& launch : of.program.step)
      sum += kernel::cost(of.kernels[static_cast<std::size_t>(launch.kernel)]).flops;
    return sum;
  };
  EXPECT_LT(flops(plan), flops(*compiled.plan) / 2);
  const auto state = state_after(plan, 2), whole = state_after(*compiled.plan, 2);
  ASSERT_EQ(state.size(), whole.size());
  for (std::size_t i = 0; i < state.size(); ++i) {
    double size = 0, apart = 0;
    for (std::size_t k = 0; k < state[i].size(); ++k) {
      size = std::max(size, std::abs(whole[i][k]));
      apart = std::max(apart, std::abs(state[i][k] - whole[i][k]));
    }
    EXPECT_LE(apart, 1e-12 * size) << i;
  }
}

TEST(NeighbourValues, WallsKeepTheirImages) {
  for (const std::string boundary : {"neumann", "[neumann, periodic, neumann]", "outflow",
                                     "fixed(0.5)", "[antiperiodic, periodic, periodic]"}) {
    const Compilation compiled = testing::compile_text(diffusion(boundary), {});
    const schedule::Plan& whole = *compiled.plan;
    const schedule::Plan plan = divided(whole);
    // nothing is shared where the outside is fixed; across a change of sign nothing is, along the
    // two other axes something is
    EXPECT_EQ(plan.kernels.size() > whole.kernels.size(), boundary != "fixed(0.5)") << boundary;
    EXPECT_EQ(state_after(plan, 3), state_after(whole, 3)) << boundary;
  }
}

TEST(NeighbourValues, FluxesThroughFaces) {
  for (const char* boundary : {"periodic", "[periodic, outflow]", "[neumann, periodic]"}) {
    const Compilation compiled = testing::compile_text(gas(boundary), {});
    const schedule::Plan& whole = *compiled.plan;
    const schedule::Plan plan = divided(whole);
    EXPECT_LT(special_of_step(plan), special_of_step(whole)) << boundary;
    EXPECT_EQ(state_after(plan, 3), state_after(whole, 3)) << boundary;
  }
}

TEST(NeighbourValues, StayWhereNothingIsGained) {
  const Compilation compiled = testing::compile_text(curved("6 * 4 * 5, spacing = 0.5"), {});
  const schedule::Plan& whole = *compiled.plan;
  EXPECT_EQ(divided(whole, schedule::kLeastBytesOfNeighbourValues).kernels.size(),
            whole.kernels.size());
  schedule::Plan plan = whole;
  schedule::store_neighbour_values(
      plan, [](const kernel::Kernel&) { return Walked::Lines; }, 0);
  EXPECT_EQ(plan.kernels.size(), whole.kernels.size());
  // a march that would no longer be one
  const std::size_t buffers = plan.program.buffers.size();
  schedule::store_neighbour_values(
      plan,
      [&](const kernel::Kernel& kernel) {
        return kernel.arrays.size() > 0 && kernel.find(static_cast<int>(whole.buffer_of.size()))
                   ? Walked::Sites
                   : Walked::March;
      },
      0);
  EXPECT_EQ(plan.kernels.size(), whole.kernels.size());
  EXPECT_EQ(plan.program.buffers.size(), buffers);
  // differences of neighbours take less time than the bytes of an array
  const Compilation linear_field = testing::compile_text(
      "model linear \"a wave\"\nlattice box: 6 * 4 * 5, spacing = 0.5\nfield phi: real\n"
      "potential V = phi^4/4\ninit phi = sin(2*pi*x/3), phi' = 0\nevolve leapfrog, dt = 0.05, "
      "until = t > 1\nevery 1 steps: mean(phi^2) -> \"t.h5\"\n",
      {});
  const schedule::Plan& linear = *linear_field.plan;
  EXPECT_EQ(divided(linear).kernels.size(), linear.kernels.size());
}

TEST(NeighbourValues, OnDevices) {
  const std::string text = curved("64 * 64 * 32, spacing = 0.5");
  Simulation setup;
  setup.keep_state = true;
  setup.steps = 2;
  const Compilation compiled = testing::compile_text(text, setup);
  ASSERT_TRUE(compiled.program);
  const auto stores_values = [](const program::Program& program) {
    return std::ranges::any_of(program.kernels, [](const program::Kernel& kernel) {
      return kernel.name == "sweep_values";
    });
  };
  EXPECT_TRUE(stores_values(*compiled.program));
  const runtime::RunResult native = testing::run_text(text, setup);
  if (!testing::device("opencl")) GTEST_SKIP() << "no OpenCL device";
  const Compilation gpu = testing::compile_for_gpu(text, testing::opencl_gpu(4));
  ASSERT_TRUE(gpu.program);
  EXPECT_TRUE(stores_values(*gpu.program));
  setup.device = "opencl";
  const runtime::RunResult run = testing::run_program(*gpu.program, setup);
  ASSERT_EQ(run.state.size(), native.state.size());
  double most = 0;
  for (std::size_t i = 0; i < run.state.size(); ++i) {
    ASSERT_EQ(run.state[i].size(), native.state[i].size());
    for (std::size_t k = 0; k < run.state[i].size(); ++k)
      most = std::max(most, std::abs(run.state[i][k] - native.state[i][k]));
  }
  EXPECT_LT(most, 1e-13);
}

}  // namespace
}  // namespace vphi
