// Every shipped model that runs, small, on every device of this machine, against the processor, in
// f64: the whole state of every instance of a sweep, every row of every series, averages, plots and
// the verdicts of `expect` agree to rounding. Models of families that do not run yet must give
// E0901 and no other message.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "runtime/device/code_cache.hpp"
#include "tests/support/simulate.hpp"
#include "tools/model.hpp"
#include "tools/reduced_model.hpp"

namespace vphi {
namespace {

using testing::Simulation;

class Shipped : public ::testing::TestWithParam<std::pair<std::string, std::string>> {};

/// How far two devices may be apart.
struct Tolerance {
  double relative, absolute;
};

double largest_of(const std::vector<double>& values) {
  double largest = 0;
  for (const double v : values)
    if (std::isfinite(v)) largest = std::max(largest, std::abs(v));
  return largest;
}

/// Numbers of one kind, measured by the largest of them; NaN, "no value", equals itself.
void expect_close(const std::vector<double>& found, const std::vector<double>& reference,
                  double size, const Tolerance& tolerance, const std::string& what) {
  ASSERT_EQ(found.size(), reference.size()) << what;
  const double most = tolerance.absolute + tolerance.relative * size;
  double furthest = -1;
  std::size_t where = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(std::isnan(found[i]), std::isnan(reference[i])) << what << " at " << i;
    const double difference = std::abs(found[i] - reference[i]);
    if (difference > furthest) furthest = difference, where = i;
  }
  EXPECT_LE(furthest, most) << what << " at " << where << ": " << found[where] << " is not "
                            << reference[where];
}

void expect_same_series(const runtime::Series& found, const runtime::Series& reference,
                        const Tolerance& tolerance, const std::string& what) {
  ASSERT_EQ(found.points.size(), reference.points.size()) << what;
  ASSERT_EQ(found.values.size(), reference.values.size()) << what;
  EXPECT_EQ(found.steps, reference.steps) << what;
  std::vector<double> a, b;
  for (const auto& point : found.points) a.push_back(point.second);
  for (const auto& point : reference.points) b.push_back(point.second);
  double size = largest_of(b);
  for (const auto& row : reference.values) size = std::max(size, largest_of(row));
  expect_close(a, b, size, tolerance, what);
  for (std::size_t row = 0; row < reference.values.size(); ++row)
    expect_close(found.values[row], reference.values[row], size, tolerance, what);
}

void expect_same_run(const runtime::RunResult& found, const runtime::RunResult& reference,
                     const program::Program& program, const Tolerance& tolerance,
                     const std::string& device) {
  EXPECT_EQ(found.steps, reference.steps) << device;
  ASSERT_EQ(found.state.size(), reference.state.size()) << device;
  // numbers of a vector or a matrix by the largest of all of its components
  const auto whole = [&](std::size_t v) {
    return program.state[v].shown.substr(0, program.state[v].shown.find('['));
  };
  std::map<std::string, double> sizes;
  for (std::size_t v = 0; v < reference.state.size(); ++v)
    sizes[whole(v)] = std::max(sizes[whole(v)], largest_of(reference.state[v]));
  for (std::size_t v = 0; v < reference.state.size(); ++v)
    expect_close(found.state[v], reference.state[v], sizes[whole(v)], tolerance,
                 "state " + program.state[v].shown + " on " + device);
  ASSERT_EQ(found.series.size(), reference.series.size()) << device;
  for (std::size_t i = 0; i < reference.series.size(); ++i)
    expect_same_series(found.series[i], reference.series[i], tolerance,
                       reference.series[i].name + " on " + device);
  ASSERT_EQ(found.plots.size(), reference.plots.size()) << device;
  for (std::size_t i = 0; i < reference.plots.size(); ++i)
    expect_close(found.plots[i].y, reference.plots[i].y, largest_of(reference.plots[i].y),
                 tolerance, reference.plots[i].name + " plotted on " + device);
  ASSERT_EQ(found.expectations.size(), reference.expectations.size()) << device;
  for (std::size_t i = 0; i < reference.expectations.size(); ++i)
    EXPECT_EQ(found.expectations[i].ok, reference.expectations[i].ok)
        << reference.expectations[i].text << " on " << device;
  ASSERT_EQ(found.failures.size(), reference.failures.size()) << device;
  for (std::size_t i = 0; i < reference.failures.size(); ++i)
    EXPECT_EQ(found.failures[i].instance, reference.failures[i].instance) << device;
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
  tools::Most most;
  most.edge = {1 << 20, 32, 16, 4};
  const CompileOptions small = tools::made_small(path, {}, most);
  simulation.lattice = small.lattice;
  simulation.set = small.set;
  simulation.precision = "f64";
  // In a Markov chain what rounding leaves grows from sweep to sweep.
  const bool chain = moves_links(first.system->dynamics);
  simulation.steps = chain ? 2 : 32;
  simulation.keep_state = true;
  const Compilation compiled = testing::compile_file(path, simulation);
  const auto reference = testing::run_program(*compiled.program, simulation);
  const bool still = first.system->variables.empty();  // solves a linear system, and that is all
  EXPECT_GE(reference.steps, still ? 0 : chain ? 2 : 16);  // a small lattice may end before 32
  ASSERT_EQ(reference.state.empty(), still);
  ASSERT_FALSE(still && reference.scalars.empty());
  for (const auto& field : reference.state)
    for (const double value : field)
      ASSERT_TRUE(std::isfinite(value) || !reference.failures.empty());
  for (const auto& [name, value] : reference.scalars) EXPECT_TRUE(std::isfinite(value)) << name;
  // Pairs in f32 keep the precision that the model declares, whatever the fields have.
  const bool coarse = first.system->numerics.pair == physics::Precision::F32;
  // Forces of determinants are solved to a residual that rounding may pass an iteration later;
  // links then differ by as much as the residual, 1e-8 in shipped models, times what a trajectory
  // makes of it.
  const bool solved = chain && !first.system->solves.empty();
  const Tolerance tolerance = coarse || solved ? Tolerance{1e-6, 1e-8} : Tolerance{1e-9, 1e-11};
  const bool matrices = chain || !first.system->solves.empty();
  if (matrices && first.system->lattice.dims == 4) {
    GTEST_SKIP() << "kernels of thousands of operations, minutes to compile: tests/long";
  }
  for (const char* other : {"opencl", "cuda"}) {
    if (!testing::device(other)) {
      GTEST_LOG_(INFO) << "no " << other << " device here: not compared";
      continue;
    }
    simulation.device = other;
    try {
      expect_same_run(testing::run_file(path, simulation), reference, *compiled.program, tolerance,
                      other);
    } catch (const runtime::LimitError& limit) {
      GTEST_LOG_(INFO) << "not compared: " << limit.what();  // tables beyond a driver's memory
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Shipped, ::testing::ValuesIn(tools::shipped_models()),
                         [](const auto& test) { return test.param.first; });

}  // namespace
}  // namespace vphi
