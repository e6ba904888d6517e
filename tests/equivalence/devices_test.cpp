// Every shipped model that runs, small, on every device that is here, against the processor.
// f64: the last scalars agree to rounding. Models of families that do not run yet must say so with
// E0901, nothing else.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/simulate.hpp"
#include "tools/model.hpp"

namespace vphi {
namespace {

using testing::Simulation;

class Shipped : public ::testing::TestWithParam<std::pair<std::string, std::string>> {};

/// 16 sites along each axis of the model's own lattice; 1D ones as they stand.
std::string small(const Compilation& compilation) {
  switch (compilation.system->lattice.dims) {
    case 3:
      return "16^3";
    case 2:
      return "32^2";
    default:
      return "";
  }
}

TEST_P(Shipped, AgreesOnEveryDevice) {
  const std::string path = GetParam().second;
  const Compilation first = derive_model(path, {});
  if (!first.system) {
    for (const auto& d : first.diagnostics.all()) {
      if (d.severity == dsl::Severity::Error) {
        EXPECT_EQ(d.code, "E0901") << d.message;
      }
    }
    GTEST_SKIP() << GetParam().first << " belongs to a family that does not run yet";
  }
  Simulation simulation;
  simulation.lattice = small(first);
  simulation.precision = "f64";
  simulation.steps = 32;
  const auto reference = testing::run_file(path, simulation);
  EXPECT_EQ(reference.steps, 32);
  if (first.system->instances() > 1) {
    GTEST_SKIP()
        << "results with axes: tests/physics/ensemble_test.cpp, tests/run/ensemble_test.cpp";
  }
  ASSERT_FALSE(reference.scalars.empty());
  for (const auto& [name, value] : reference.scalars) EXPECT_TRUE(std::isfinite(value)) << name;
  for (const char* other : {"opencl", "cuda"}) {
    if (!testing::device(other)) {
      GTEST_LOG_(INFO) << "no " << other << " device here: not compared";
      continue;
    }
    simulation.device = other;
    const auto result = testing::run_file(path, simulation);
    ASSERT_EQ(result.scalars.size(), reference.scalars.size());
    for (std::size_t i = 0; i < result.scalars.size(); ++i) {
      const auto& [name, value] = reference.scalars[i];
      double size = std::abs(value);
      if (const auto* series = reference.find(name))
        for (const auto& point : series->points) size = std::max(size, std::abs(point.second));
      EXPECT_NEAR(result.scalars[i].second, value, 1e-11 + 1e-9 * size) << name << " on " << other;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Shipped, ::testing::ValuesIn(tools::shipped_models()),
                         [](const auto& test) { return test.param.first; });

}  // namespace
}  // namespace vphi
