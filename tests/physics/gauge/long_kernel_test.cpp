// Kernels that are cut into parts for the caches of instructions of GPUs: the same bits as whole,
// and few numbers handed on.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "compiler/interpret/interpret.hpp"
#include "compiler/schedule/steps/parts.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::Simulation;

std::string rectangles(const std::string& sample) {
  return "model rectangles \"plaquettes and rectangles\"\nparam c1 = -1/12, beta = 6\n"
         "lattice grid: 4^4\ngauge U: SU(3), store = rows(2)\n"
         "P[mu,nu] = loop(mu, nu, -mu, -nu)\nR[mu,nu] = loop(2*mu, nu, -2*mu, -nu)\n"
         "action S = beta/3*((1 - 8*c1)*sum(3 - re(tr(P[mu,nu])), mu < nu) "
         "+ c1*sum(3 - re(tr(R[mu,nu])), mu != nu))\nsample " +
         sample + "\ninit U ~ hot\n";
}

std::vector<std::vector<double>> links_after_a_sweep(const schedule::Plan& plan) {
  kernel::Interpreter run(plan);
  run.start();
  run.step();
  std::vector<std::vector<double>> links;
  for (const program::Buffer& buffer : plan.program.buffers)
    if (buffer.state) links.push_back(run.buffer(buffer.name));
  return links;
}

TEST(LongKernels, PartsGiveTheSameBits) {
  for (const char* precision : {"f32", "f64"}) {
    Simulation setup;
    setup.precision = precision;
    const Compilation whole =
        testing::compile_text(rectangles("heatbath, sweeps = 1, overrelax = 1"), setup);
    schedule::Plan parts = *whole.plan;
    schedule::cut_long_kernels(parts);
    EXPECT_GE(parts.kernels.size(), whole.plan->kernels.size() + 8) << precision;
    const auto expected = links_after_a_sweep(*whole.plan), links = links_after_a_sweep(parts);
    ASSERT_EQ(expected.size(), 48U);
    double most = 0;
    for (std::size_t i = 0; i < links.size(); ++i)
      for (std::size_t k = 0; k < links[i].size(); ++k)
        most = std::max(most, std::fabs(links[i][k] - expected[i][k]));
    EXPECT_EQ(most, 0) << precision;
    // the sum of the staples so far: a complex matrix, whatever the direction
    const auto handed_on = std::ranges::count_if(
        parts.program.buffers, [](const auto& b) { return b.name.starts_with("handed_on"); });
    EXPECT_EQ(handed_on, 18) << precision;
  }
}

TEST(LongKernels, ShortOnesStayWhole) {
  const Compilation whole = testing::compile_text(
      "model plaquettes \"plaquettes\"\nlattice grid: 4^4\ngauge U: SU(3), store = rows(2)\n"
      "action S = 2*sum(3 - re(tr(loop(mu, nu, -mu, -nu))), mu < nu)\n"
      "sample heatbath, sweeps = 1\ninit U ~ hot\n",
      {});
  schedule::Plan parts = *whole.plan;
  schedule::cut_long_kernels(parts);
  EXPECT_EQ(parts.kernels.size(), whole.plan->kernels.size());
  EXPECT_EQ(parts.remarks, whole.plan->remarks);
}

}  // namespace
}  // namespace vphi
