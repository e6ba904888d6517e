// Every shipped model that runs, small, on every device that is here, against the processor.
// f64: the last scalars agree to rounding. Models of families that do not run yet must say so with
// E0901, nothing else.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/simulate.hpp"
#include "tools/model.hpp"
#include "tools/small.hpp"

namespace vphi {
namespace {

using testing::Simulation;

class Shipped : public ::testing::TestWithParam<std::pair<std::string, std::string>> {};

TEST_P(Shipped, AgreesOnEveryDevice) {
  const std::string path = GetParam().second;
  const Compilation first = derive_model(path, {});
  if (!first.system) {
    for (const auto& d : first.diagnostics.all()) {
      if (d.severity == dsl::Severity::Error) {
        // E0781: a model that reads a file of the user's.
        EXPECT_TRUE(d.code == "E0901" || d.code == "E0781") << d.code << ": " << d.message;
      }
    }
    GTEST_SKIP() << GetParam().first
                 << " belongs to a family that does not run yet, or wants a file";
  }
  Simulation simulation;
  tools::Most most;
  most.edge = {1 << 20, 32, 16};
  const CompileOptions small = tools::made_small(path, {}, most);
  simulation.lattice = small.lattice;
  simulation.set = small.set;
  simulation.precision = "f64";
  simulation.steps = 32;
  const auto reference = testing::run_file(path, simulation);
  EXPECT_GE(reference.steps, 16);  // a small lattice may be at its end earlier than 32
  if (first.system->instances() > 1) {
    GTEST_SKIP()
        << "results with axes: tests/physics/ensemble_test.cpp, tests/run/ensemble_test.cpp";
  }
  ASSERT_FALSE(reference.scalars.empty());
  // Pairs in f32 keep the precision that the model declares, whatever the fields have.
  const bool coarse = first.system->numerics.pair == physics::Precision::F32;
  const double absolute = coarse ? 1e-8 : 1e-11, relative = coarse ? 1e-6 : 1e-9;
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
      EXPECT_NEAR(result.scalars[i].second, value, absolute + relative * size)
          << name << " on " << other;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Shipped, ::testing::ValuesIn(tools::shipped_models()),
                         [](const auto& test) { return test.param.first; });

}  // namespace
}  // namespace vphi
