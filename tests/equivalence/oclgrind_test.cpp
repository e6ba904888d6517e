// A quick part of the race and memory checks: one model of each family, 8 sites along each axis, in
// the layout of a processor and in that of a GPU. All of them: tests/long/oclgrind_test.cpp.
#include "tests/support/oclgrind.hpp"

#include <gtest/gtest.h>

#include "tests/support/model_name.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::Form;

class Oclgrind : public ::testing::TestWithParam<const char*> {};

TEST_P(Oclgrind, NoRaceAndNoStrayAccess) {
  std::string why;
  if (!testing::oclgrind_here(&why)) GTEST_SKIP() << why;
  for (const Form form : {Form::Processor, Form::Gpu}) {
    const auto found = testing::watch(testing::shipped(GetParam()), form, 8, 1);
    EXPECT_EQ(found.log, "") << (form == Form::Gpu ? "as on a GPU" : "as on a processor");
    EXPECT_GT(found.launches, 2);
  }
}

// A checker that found nothing here would be worth nothing: all items store to one place, and the
// last one beyond the end.
TEST(OclgrindItself, FindsAPlantedRaceAndAStrayStore) {
  std::string why;
  if (!testing::oclgrind_here(&why)) GTEST_SKIP() << why;
  const auto run = [](const std::string& line) {
    return testing::complaints([&](runtime::Device& device) {
      program::Kernel kernel;
      kernel.name = kernel.entry = "planted";
      kernel.source =
          "__kernel void planted(__global float* a) {\n  const int i = "
          "get_global_id(0);\n  " +
          line + "\n}\n";
      kernel.arguments.push_back(
          {program::Argument::Kind::Current, 0, 64, program::Precision::F32, true});
      kernel.grid = {4, 1, 1}, kernel.block = {4, 1, 1};
      const auto handle = device.compile({&kernel, 1})[0];
      const auto buffer = device.allocate(64);
      device.launch(handle, {&buffer, 1});
    });
  };
  EXPECT_EQ(run("a[i] = (float)i;"), "");
  EXPECT_NE(run("a[0] = (float)i;").find("race"), std::string::npos);
  EXPECT_NE(run("a[i + 1] = (float)i;").find("Invalid write"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Quick, Oclgrind,
                         ::testing::Values("teaching/wave", "teaching/drum", "cosmology/lphi4",
                                           "noise/langevin", "particles/kepler", "particles/ring"),
                         testing::model_name);

}  // namespace
}  // namespace vphi
