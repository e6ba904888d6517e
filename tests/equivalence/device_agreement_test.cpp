// When `vphi test` says that two devices differ: by more than the rounding of the arithmetic.
#include "tools/device_agreement.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "compiler/compile.hpp"
#include "tests/support/simulate.hpp"

namespace vphi::tools {
namespace {

using Scalars = std::vector<std::pair<std::string, double>>;

runtime::RunResult result(Scalars scalars) {
  runtime::RunResult r;
  r.scalars = std::move(scalars);
  return r;
}

/// Whether the second run differs from the first; `other` is the first in the other precision.
bool differ(const Scalars& first, const Scalars& second, const Scalars& other, bool any_f32) {
  const Rounding own = roundings(result(first), result(other), any_f32).own;
  return differs(furthest(result(first), result(second), own));
}

TEST(DeviceAgreement, TermsInF32RoundAsF32) {
  const Scalars first{{"H", -0.6}}, second{{"H", -0.6 + 3e-7}}, other{{"H", -0.6 + 1e-7}};
  EXPECT_FALSE(differ(first, second, other, true));
  EXPECT_TRUE(differ(first, {{"H", -0.6 + 1e-5}}, other, false));
  EXPECT_TRUE(differ(first, {{"H", -0.6 + 1e-3}}, other, true));
}

// The mean momentum is 0 but for rounding. That of the first axis is so in both precisions.
TEST(DeviceAgreement, AComponentThatIsZeroHasTheRoundingOfItsVector) {
  const Scalars first{{"mean(p)[0]", 1e-18}, {"mean(p)[1]", 2e-17}, {"mean(p)[2]", -3e-17}};
  const Scalars second{{"mean(p)[0]", -2e-17}, {"mean(p)[1]", 1e-17}, {"mean(p)[2]", 3e-17}};
  const Scalars other{{"mean(p)[0]", 1e-18}, {"mean(p)[1]", 5e-9}, {"mean(p)[2]", 2e-9}};
  EXPECT_FALSE(differ(first, second, other, false));
  EXPECT_TRUE(differ({{"m", 1e-18}}, {{"m", -2e-17}}, {{"m", 1e-18}}, false));
  EXPECT_TRUE(differ(first, {{"mean(p)[0]", 1e-12}}, other, false));
}

TEST(DeviceAgreement, NaNOnOneDeviceIsADifference) {
  EXPECT_TRUE(differ({{"a", 1}}, {{"a", NAN}}, {{"a", 1}}, false));
  EXPECT_TRUE(differ({{"a", NAN}}, {{"a", 1}}, {{"a", 1}}, false));
  EXPECT_FALSE(differ({{"a", NAN}}, {{"a", NAN}}, {{"a", NAN}}, false));
}

TEST(DeviceAgreement, SumsOverPairsOfShippedModelsAreInF32) {
  for (const char* model : {"particles/cluster", "particles/plasma", "particles/disk"})
    EXPECT_TRUE(any_f32(derive_model(testing::shipped(model), {}).system->numerics)) << model;
  EXPECT_FALSE(any_f32(derive_model(testing::shipped("particles/kepler"), {}).system->numerics));
}

}  // namespace
}  // namespace vphi::tools
