// Lattices that ranks share, one model of each family: the same bits as on one device. All shipped
// models: tests/long/cut_test.cpp.
#include <gtest/gtest.h>

#include "tests/support/cut_ranks.hpp"
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

INSTANTIATE_TEST_SUITE_P(Families, CutLattice,
                         ::testing::Values("cosmology/lphi4", "cosmology/walls",
                                           "cosmology/preheating", "cosmology/gw_lphi4",
                                           "noise/thermal", "teaching/drum", "gauge/u1_2d",
                                           "hydro/gubser"),
                         [](const auto& test) {
                           std::string name = test.param;
                           for (char& c : name) c = c == '/' ? '_' : c;
                           return name;
                         });

}  // namespace
}  // namespace vphi
