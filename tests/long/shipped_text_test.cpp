// Shipped models with links against their text: hundreds of sweeps of each.
#include <gtest/gtest.h>

#include "tests/physics/oracle/shipped_models.hpp"

namespace vphi {
namespace {

class ShippedText : public ::testing::TestWithParam<std::string> {};

TEST_P(ShippedText, AgreesWithWhatIsDerived) { shipped::expect_right(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Gauge, ShippedText, ::testing::ValuesIn(shipped::models(true)),
                         [](const auto& info) { return planted::test_name(info.param); });

}  // namespace
}  // namespace vphi
