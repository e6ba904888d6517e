// The values that an onlooker gets, and how it pauses and stops a run.
#include "runtime/run/onlooker.hpp"

#include <gtest/gtest.h>

#include <map>

#include "runtime/device/device.hpp"
#include "runtime/run/run.hpp"
#include "tests/run/wave_program.hpp"

namespace vphi::runtime {
namespace {

/// Counts what it is told; does what the test wants between chunks.
class Counting : public Onlooker {
 public:
  bool attending() const override { return attends; }
  void scalars(std::span<const std::string> names, const io::Moment& at,
               std::span<const double> values) override {
    ASSERT_EQ(names.size(), values.size());
    for (std::size_t i = 0; i < names.size(); ++i) rows[names[i]].emplace_back(at.time, values[i]);
  }
  void table(const io::Table& table, const io::Moment&) override {
    std::int64_t size = 1;
    for (const auto n : table.shape) size *= n;
    EXPECT_EQ(static_cast<std::size_t>(size), table.values.size());
    EXPECT_GT(size, 0);
    ++fields[table.group() + "/" + table.name];
  }
  void checks(const std::vector<ExpectationResult>& results) override {
    checked = results.empty() ? 0 : results[0].history.size();
  }
  Wish between(const Progress& now) override {
    last = now;
    return wish ? wish(now) : Wish::GoOn;
  }

  bool attends = true;
  std::function<Wish(const Progress&)> wish;
  std::map<std::string, std::vector<std::pair<double, double>>> rows;
  std::map<std::string, int> fields;
  std::size_t checked = 0;
  Progress last;
};

RunResult run_wave(Counting& counting, std::int64_t steps) {
  test::WaveOptions wave;
  wave.steps = steps;
  const auto program = test::wave_program(wave);
  const auto device = open_device("native");
  RunOptions options;
  options.onlooker = &counting;
  return run(program, *device, options);
}

TEST(Onlooker, IsToldWhatTheResultHolds) {
  Counting counting;
  const RunResult result = run_wave(counting, 95);
  for (const Series& series : result.series) EXPECT_EQ(counting.rows[series.name], series.points);
  EXPECT_GT(counting.fields["spectra/phi"], 0);
  EXPECT_EQ(counting.fields["slices/phi"], counting.fields["spectra/phi"]);
  EXPECT_EQ(counting.fields["histograms/phi"], counting.fields["spectra/phi"]);
  EXPECT_EQ(counting.fields.count("snapshots/phi"), 0U);
  EXPECT_EQ(counting.checked, result.expectations[0].history.size());
  EXPECT_EQ(counting.checked, 11U);
  EXPECT_EQ(counting.last.step, 95);
}

TEST(Onlooker, FieldsAreNotCopiedForNobody) {
  Counting counting;
  counting.attends = false;
  run_wave(counting, 95);
  EXPECT_TRUE(counting.fields.empty());
  EXPECT_EQ(counting.rows["energy"].size(), 11U);
}

TEST(Onlooker, PausesAndStops) {
  Counting counting;
  int paused = 0;
  std::int64_t at = -1;
  counting.wish = [&](const Progress& now) {
    if (now.step < 1000) return Wish::GoOn;
    if (at < 0) at = now.step;
    EXPECT_EQ(now.step, at);  // no step is done while it waits
    return ++paused < 4 ? Wish::Pause : Wish::Stop;
  };
  const RunResult result = run_wave(counting, 1'000'000'000);
  EXPECT_EQ(paused, 4);
  EXPECT_TRUE(result.interrupted);
  EXPECT_EQ(result.steps, at);
}

TEST(Onlooker, KernelsAreTimedOnDemand) {
  test::WaveOptions wave;
  const auto program = test::wave_program(wave);
  const auto device = open_device("native");
  RunOptions options;
  EXPECT_EQ(run(program, *device, options).kernels.size(), program.kernels.size());
  options.time_kernels = true;
  const RunResult result = run(program, *device, options);
  for (const auto& launch : program.step) EXPECT_GT(result.kernels[launch.kernel].seconds, 0);
}

}  // namespace
}  // namespace vphi::runtime
