// SU(3) in four dimensions: larger boxes, rectangles, OpenCL (specs/gauge 4.1, 4.3).
#include <gtest/gtest.h>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

double plaquette(const std::string& model, const std::string& device, const std::string& lattice,
                 std::int64_t sweeps) {
  testing::Simulation setup;
  setup.device = device;
  setup.lattice = lattice;
  setup.steps = sweeps;
  return testing::last(testing::run_file(testing::shipped(model), setup), "average");
}

// Boyd et al., hep-lat/9602007: 0.593678(24) on 16^4.
TEST(LongChain, WilsonAtBetaSix) {
  EXPECT_NEAR(plaquette("gauge/su3", "native", "8^4", 120), 0.593678, 3e-3);
}

// An independent program, 4^4: 0.740650(228).
TEST(LongChain, SymanzikAtBetaSix) {
  EXPECT_NEAR(plaquette("gauge/su3_symanzik", "native", "4^4", 300), 0.740650, 3e-3);
}

TEST(LongChain, WilsonOnOpenCl) {
  if (!testing::device("opencl")) GTEST_SKIP() << "no OpenCL here";
  EXPECT_NEAR(plaquette("gauge/su3", "opencl", "4^4", 120), 0.5945, 6e-3);
}

}  // namespace
}  // namespace vphi
