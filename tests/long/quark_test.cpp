// Free quarks on more boxes, by momentum sums (docs/formulas.md 3.5).
#include <gtest/gtest.h>

#include "tests/physics/gauge/free_quarks.hpp"

namespace vphi {
namespace {

using namespace testing::dirac;  // NOLINT: names of the explicit sums

struct Anchor {
  Free f;
  std::vector<double> printed;
  double digits;
};

class FreePion : public ::testing::TestWithParam<Anchor> {};

TEST_P(FreePion, IsTheMomentumSum) {
  const auto& [f, printed, digits] = GetParam();
  const auto expected = free_pion(f);
  const int space = f.n[0] * f.n[1] * f.n[2];
  testing::Simulation setup;
  setup.steps = 0;
  const int most = static_cast<int>(printed.size()) - 1;
  const auto result =
      testing::run_text(quarks(f, "init U ~ cold\n" + pions("cgne(1e-13)", most)), setup);
  for (std::size_t t = 0; t < printed.size(); ++t) {
    EXPECT_NEAR(expected[t], printed[t], digits) << t;
    EXPECT_NEAR(testing::last(result, "pion" + std::to_string(t)) / space, expected[t],
                1e-10 * expected[0])
        << t;
  }
}

INSTANTIATE_TEST_SUITE_P(Anchors, FreePion,
                         ::testing::Values(Anchor{{{4, 4, 4, 4}, 0.15, 0, true},
                                                  {0.01730564, 0.00293949, 0.00072221, 0.00293949},
                                                  5e-9},
                                           Anchor{{{8, 8, 8, 8}, 0.12, 0, false},
                                                  {1.61587012e-03, 1.13144611e-04, 3.41924063e-05,
                                                   2.23643437e-05, 2.02545709e-05},
                                                  5e-12}));

// The shipped models keep their promises on OpenCL.
TEST(LongQuark, ShippedModelsOnOpenCl) {
  if (!testing::device("opencl")) GTEST_SKIP() << "no OpenCL here";
  testing::Simulation setup;
  setup.device = "opencl";
  for (const char* model : {"gauge/wilson_quark", "gauge/twisted_quark"})
    EXPECT_TRUE(testing::run_file(testing::shipped(model), setup).all_expected()) << model;
}

}  // namespace
}  // namespace vphi
