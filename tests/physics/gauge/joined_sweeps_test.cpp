// Sweeps of a step that read the same numbers, as one launch of a GPU
// (compiler/schedule/steps/joined_sweeps.hpp): momenta along all axes read the spinors of a
// determinant once, and the trajectory stays the same; sweeps that do not gain stay apart.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "compiler/kernel/kernel.hpp"
#include "tests/support/opencl_gpu.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::last;

std::string chain(const std::string& lattice, const std::string& gauge,
                  const std::string& sweep = "") {
  return "model joined \"forces along all axes\"\n" + sweep + "lattice grid: " + lattice +
         "\ngauge U: " + gauge +
         "\nfermion psi: spinor, boundary(y) = antiperiodic\n"
         "D(psi) = psi - 0.15*sum((1 - gamma[mu])*U[mu]*psi@mu, mu = directions(+,-))\n"
         "action S = pseudofermion(D, solver = cg(1e-11))\n"
         "action G = 2*sum(2 - re(tr(loop(mu, nu, -mu, -nu))), mu < nu)\n"
         "sample hmc, trajectories = 2, tau = 1 {\n  level S: steps = 3, scheme = leapfrog\n"
         "  level G: steps = 2, scheme = leapfrog\n}\ninit U ~ hot\n"
         "every 1 trajectory: deltaH, f = force(S), "
         "q = mean(re(tr(loop(x, y, -x, -y)))) -> \"f.csv\"\n";
}

std::vector<std::string> kicks_of(const schedule::Plan& plan) {
  std::vector<std::string> names;
  for (const kernel::Kernel& k : plan.kernels)
    if (k.name.starts_with("kick_")) names.push_back(k.name);
  std::ranges::sort(names);
  return names;
}

TEST(JoinedSweeps, ReadSpinorsOnce) {
  const Compilation c =
      testing::compile_for_gpu(chain("4^4", "SU(3), store = rows(2)"), testing::opencl_gpu(132));
  ASSERT_TRUE(c.plan);
  // forces of plaquettes take longer than memory does: joined they would gain nothing
  EXPECT_EQ(kicks_of(*c.plan), (std::vector<std::string>{"kick_G_t", "kick_G_x", "kick_G_y",
                                                         "kick_G_z", "kick_S_xyzt"}));
  for (const kernel::Kernel& k : c.plan->kernels) {
    if (k.name != "kick_S_xyzt") continue;
    const kernel::Cost cost = kernel::cost(k);
    EXPECT_EQ(cost.loads, 2 * 24 + 4 * 12 + 4 * 8);  // X and Y, links, momenta
    EXPECT_EQ(cost.stores, 4 * 8);
  }
  // each kick of a level is one launch: four of the fields, one of them at either end
  const auto launches = c.program->launches(0);
  EXPECT_EQ(
      std::ranges::count_if(launches,
                            [&](const program::Launch& l) {
                              return c.program->kernels[static_cast<std::size_t>(l.kernel)].name ==
                                     "kick_S_xyzt";
                            }),
      4);
}

/// Chains of a small lattice fill a device together: each has a thread a site, in kernels with sums
/// too.
TEST(JoinedSweeps, AndSweepsOfSmallChainsHaveAThreadASite) {
  const Compilation c = testing::compile_for_gpu(chain("8^4", "SU(2)", "sweep chain = 1..32\n"),
                                                 testing::opencl_gpu(132));
  ASSERT_TRUE(c.program);
  int long_sites = 0, with_sums = 0;
  for (const program::Kernel& k : c.program->kernels) {
    const std::int64_t threads = std::int64_t{k.grid[0]} * k.grid[1] * k.grid[2] * k.block[0];
    if (k.name.find("start") != std::string::npos || k.loads < 48) continue;
    EXPECT_GE(threads, 32 * 4096) << k.name;
    ++long_sites;
    with_sums += k.partials > 0;
  }
  EXPECT_GE(long_sites, 5);
  EXPECT_GE(with_sums, 2);
}

TEST(JoinedSweeps, StayApartOnProcessors) {
  const Compilation c = testing::compile_text(chain("4^2", "SU(2)"), {});
  ASSERT_TRUE(c.plan);
  EXPECT_EQ(kicks_of(*c.plan),
            (std::vector<std::string>{"kick_G_x", "kick_G_y", "kick_S_x", "kick_S_y"}));
}

/// The text for a GPU, run by an OpenCL device that is a processor.
TEST(JoinedSweeps, MakeTheSameTrajectory) {
  setenv("VPHI_OPENCL_OPTIONS", "-cl-opt-disable", 1);  // PoCL takes long over such kernels
  if (!testing::device("opencl") || !testing::device("native")) GTEST_SKIP() << "one device only";
  const std::string text = chain("4^2", "SU(2)");
  const Compilation gpu = testing::compile_for_gpu(text, testing::opencl_gpu(2));
  ASSERT_TRUE(gpu.program);
  const std::vector<std::string> names = kicks_of(*gpu.plan);
  ASSERT_EQ(std::ranges::count(names, "kick_S_xy"), 1);
  testing::Simulation opencl;
  opencl.device = "opencl";
  const auto wanted = testing::run_text(text, {});
  const auto found = testing::run_program(*gpu.program, opencl);
  EXPECT_NEAR(last(found, "deltaH"), last(wanted, "deltaH"), 1e-8);
  EXPECT_NEAR(last(found, "f"), last(wanted, "f"), 1e-9 * last(wanted, "f"));
  EXPECT_NEAR(last(found, "q"), last(wanted, "q"), 1e-10);
  EXPECT_GT(std::abs(last(wanted, "deltaH")), 1e-4);
}

}  // namespace
}  // namespace vphi
