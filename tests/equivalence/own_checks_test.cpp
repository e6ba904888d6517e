// `vphi test` on every shipped model: status 0. An expectation that fails gives status 2, where the
// run is the model's own or the expectation holds at any size.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "compiler/compile.hpp"
#include "runtime/run/run.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/simulate.hpp"
#include "tools/model.hpp"
#include "tools/verbs.hpp"

namespace vphi {
namespace {

/// The verb on this process's processor; its report goes to the test's output.
int verdict(const std::string& path, std::vector<std::string> more = {}) {
  std::vector<std::string> words{path, "--device", "native", "--no-order"};
  words.insert(words.end(), more.begin(), more.end());
  return tools::test(words);
}

std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

class OwnChecks : public ::testing::TestWithParam<std::pair<std::string, std::string>> {};

TEST_P(OwnChecks, AreKept) {
  const std::string& path = GetParam().second;
  const Compilation c = derive_model(path, {});
  for (const auto& d : c.diagnostics.all())
    if (d.severity == dsl::Severity::Error)
      GTEST_SKIP() << "does not run, " << d.code << ": " << d.message;
  const bool matrices = moves_links(c.system->dynamics) || !c.system->solves.empty();
  if (matrices && c.system->lattice.dims == 4)
    GTEST_SKIP() << "kernels of thousands of operations, minutes to compile: vphi test by hand";
  EXPECT_EQ(verdict(path), tools::kOk);
}

INSTANTIATE_TEST_SUITE_P(Models, OwnChecks, ::testing::ValuesIn(tools::shipped_models()),
                         [](const auto& test) { return test.param.first; });

/// A shipped model with one line more, in a folder of its own.
class Planted : public ::testing::Test {
 protected:
  std::string with(const std::string& model, const std::string& line) const {
    const std::string path = folder_ / "planted.vphi";
    std::ofstream(path) << text_of(testing::shipped(model)) << line << "\n";
    return path;
  }
  const testing::ScratchFolder folder_;
};

TEST_F(Planted, AWrongPromiseOfAWholeRunIsFound) {
  EXPECT_EQ(verdict(with("particles/kepler", "expect drift(H) < 1e-30")), tools::kExpectFailed);
  EXPECT_EQ(verdict(with("teaching/wave", "expect max(abs(u)) < 1e-3")), tools::kExpectFailed);
}

// A heatbath takes other proposals some ten sweeps after the last digits differ: that is no fault.
TEST_F(Planted, ChainsOnTwoDevicesAreComparedBeforeTheyPart) {
  const auto devices = runtime::list_devices();
  if (std::ranges::none_of(devices, [](const auto& d) { return d.id == "opencl:0"; }))
    GTEST_SKIP() << "no second device here";
  const std::string path = folder_ / "links.vphi";
  std::ofstream(path) << R"(model links "Two chains"
lattice grid: 4^3
gauge U: SU(2)
P[mu,nu] = loop(mu, nu, -mu, -nu)
action S = 1.15*sum(2 - re(tr(P[mu,nu])), mu < nu)
sample heatbath, sweeps = 300, overrelax = 2
init U ~ hot
every 1 sweep: plaquette = mean(re(tr(P[mu,nu]))/2, mu < nu), polyakov -> "links.h5"
)";
  EXPECT_EQ(tools::test({path, "--device", "native", "--device", "opencl:0", "--no-order"}),
            tools::kOk);
}

TEST_F(Planted, OfAModelMadeSmallWhatHoldsAtAnySizeIsJudged) {
  EXPECT_EQ(verdict(with("cosmology/qball", "expect conserved(Q) within 1e-30")),
            tools::kExpectFailed);
  EXPECT_EQ(verdict(with("cosmology/preheating", "expect a > 1000")), tools::kOk);
}

TEST_F(Planted, OfARunCutShortDriftIsJudged) {
  EXPECT_EQ(verdict(with("teaching/pendulum", "expect drift(energy) < 1e-30"), {"--steps", "50"}),
            tools::kExpectFailed);
}

TEST_F(Planted, ANoisyEquationIsNoWrongForce) {
  const std::string path = folder_ / "noisy.vphi";
  std::ofstream(path) << R"(model noisy "A field in a bath"
lattice box: 32, length = 32, boundary = periodic
field phi: real
potential V = phi^4/4
phi'' = derived - phi' + 0.1*noise
init phi = 1, phi' = 0
evolve baoab, dt = 0.01, until = t > 1
precision real = f64
every 10 steps: mean(phi) -> "n.h5"
)";
  EXPECT_EQ(verdict(path), tools::kOk);
}

// 10^60 is beyond single precision: a remark, not a failure.
TEST_F(Planted, WhatOnlyF64CanCarryIsNoFailure) {
  const std::string path = folder_ / "wide.vphi";
  std::ofstream(path) << R"(model wide "Far beyond 10^38"
lattice box: 16, length = 16, boundary = periodic
field phi: real
potential V = phi^2/2
init phi = 1e60, phi' = 0
evolve leapfrog, dt = 0.01, until = t > 1
precision real = f64
every 10 steps: mean(phi) -> "w.h5"
)";
  EXPECT_EQ(verdict(path), tools::kOk);
}

}  // namespace
}  // namespace vphi
