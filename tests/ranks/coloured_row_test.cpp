// Single rows whose sites are updated in turns, shared by ranks.
#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <string>

#include "tests/support/cut_ranks.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

/// The rows have four slabs. Spins draw bits or words, angles numbers; the last reads the second
/// neighbour too, so that its sites have other colours, and acceptance is a sum over these.
constexpr const char* kSpins = R"(model chain "Ising spins in a row, heatbath"
param K = 0.7
lattice ring: 8192
field s: int, values = [-1, 1]
energy = -mean(sum(s*s@k, k))
m = mean(s)
action S = -K*sum(s*s@k, k)
sample heatbath, sweeps = 20
init s ~ hot
every 1 sweep: energy, m -> "chain.h5"
)";
constexpr const char* kAngles = R"(model angles "Angles in a row, heatbath and overrelaxation"
param K = 1.1
lattice ring: 16384
field th: angle
bond = mean(cos(th@k - th), k)
action S = -K*sum(cos(th@k - th), k)
sample heatbath, sweeps = 20, overrelax = 2
init th ~ hot
every 1 sweep: bond -> "angles.h5"
)";
constexpr const char* kProposals =
    R"row(model proposed "A field in a row, with the acceptance of proposals"
param m2 = 0.3, lambda = 0.5
lattice ring: 24576
field q: real
action S = sum((q@k - q)^2/2, k) + 0.1*(q@(2) - q)^2 + m2*q^2/2 + lambda*q^4/4
sample metropolis, sweeps = 20, width = 0.8
init q ~ normal
every 1 sweep: mean(q^2), accept -> "proposed.h5"
)row";

class ColouredRows : public ::testing::TestWithParam<const char*> {
 protected:
  void compare(int ranks, const testing::CutSetup& setup) {
    const testing::ScratchFolder folder;
    const std::string path = (folder / "row.vphi").string();
    std::ofstream(path) << GetParam();
    const auto result = testing::cut_and_compare(path, ranks, setup);
    EXPECT_EQ(result.refused, "");
    EXPECT_EQ(result.differs, "");
  }
  static testing::CutSetup whole_row(const char* device, bool as_gpu, double relative) {
    testing::CutSetup setup;
    setup.device = device, setup.as_gpu = as_gpu, setup.precision = "f64";
    setup.relative = relative;
    const std::string text = GetParam();
    setup.lattice = text.substr(text.find("ring: ") + 6,
                                text.find('\n', text.find("ring: ")) - text.find("ring: ") - 6);
    return setup;
  }
};

TEST_P(ColouredRows, HaveTheBitsOfOneDevice) {
  for (const int ranks : {2, 3, 4}) compare(ranks, whole_row("native", false, 0));
}

TEST_P(ColouredRows, AsOnAGpuAgreeWithOneDevice) {
  if (testing::device("opencl") == nullptr) GTEST_SKIP() << "no OpenCL device";
  compare(4, whole_row("opencl", true, 1e-12));
}

std::string name_of_row(const ::testing::TestParamInfo<const char*>& info) {
  return std::array{"Spins", "Angles", "Proposals"}[info.index];
}

INSTANTIATE_TEST_SUITE_P(Models, ColouredRows, ::testing::Values(kSpins, kAngles, kProposals),
                         name_of_row);

}  // namespace
}  // namespace vphi
