// Sweeps that are stopped and continued: the same bits as without the stop, in series, averages,
// first passages, expectations, failures and files. And the error of their step.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "runtime/run/onlooker.hpp"
#include "runtime/run/state/checkpoints.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/simulate.hpp"
#include "tools/oracle/error_check.hpp"

namespace vphi {
namespace {

namespace fs = std::filesystem;
using runtime::RunResult;

constexpr const char* kNoisy = R"(model noisy "Wells of several depths, many paths"
sweep k = [0.5, 1, 2]
sweep path = 1..7
var x: real
x'' = -k*x - x' + noise
init x = 1, x' ~ normal
evolve baoab, dt = 0.05, until = t > 10 + k
crossing = first(t, x < 0)
every 10 steps: mean(x'^2, over = path), mean(x^2, over = [path, time]), x -> "noisy.h5"
every 40 steps: histogram(x, bins = 8, low = -4, high = 4, over = path) -> "noisy.h5"
at end: crossing -> "noisy.h5"
plot crossing against k
expect abs(x) < 50
expect mean(x'^2, over = [path, time]) < 9
)";

// The third one runs away to infinity on its way and is left out.
constexpr const char* kFailing = R"(model failing "A well that is not deep enough"
sweep start = [0.1, 0.5, 1.5]
var x: real
x'' = -x + x^3
init x = start, x' = 0
evolve leapfrog, dt = 0.02, until = t > 20
every 25 steps: x, x' -> "failing.h5"
)";

class StopAt : public runtime::Onlooker {
 public:
  explicit StopAt(std::int64_t step) : step_(step) {}
  bool attending() const override { return false; }
  void scalars(std::span<const std::string>, const io::Moment&, std::span<const double>) override {}
  void table(const io::Table&, const io::Moment&) override {}
  void checks(const std::vector<runtime::ExpectationResult>&) override {}
  runtime::Wish between(const runtime::Progress& now) override {
    return now.step >= step_ ? runtime::Wish::Stop : runtime::Wish::GoOn;
  }

 private:
  std::int64_t step_;
};

/// Stops a part of a sweep at a step.
class StopInPart : public StopAt {
 public:
  StopInPart(int part, std::int64_t step) : StopAt(step), part_(part) {}
  runtime::Wish between(const runtime::Progress& now) override {
    if (now.step < before_) ++now_;
    before_ = now.step;
    return now_ == part_ ? StopAt::between(now) : runtime::Wish::GoOn;
  }

 private:
  int part_, now_ = 0;
  std::int64_t before_ = 0;
};

class SweepResume : public ::testing::Test {
 protected:
  runtime::RunOptions into(const std::string& name, std::int64_t every = 0) const {
    runtime::RunOptions options;
    options.out = (folder_ / name).string();
    options.keep.on = true;
    options.keep.every_steps = every;
    options.keep_state = true;
    return options;
  }
  std::string content(const std::string& name, const std::string& file) const {
    if (!io::have_hdf5()) return {};
    // where a dataset lies in the file, and where lines break, may differ
    const std::string command =
        "cd '" + (folder_ / name).string() + "' && h5dump " + file +
        ".h5 | sed -E 's/DATASET [0-9]+ //g; s/\\([0-9,]+\\)://g' | tr -d ' \\n' "
        "> dump";
    EXPECT_EQ(std::system(command.c_str()), 0);
    std::ostringstream text;
    text << std::ifstream(folder_ / name / "dump").rdbuf();
    return text.str();
  }
  /// Stopped at a step and gone on from there.
  RunResult in_two(const program::Program& program, const std::string& name, std::int64_t at) {
    runtime::Device& device = *testing::device("native");
    runtime::RunOptions first = into(name, at);
    StopAt stop(at);
    first.onlooker = &stop;
    const RunResult cut = runtime::run(program, device, first);
    EXPECT_TRUE(cut.interrupted) << at;
    EXPECT_EQ(cut.checkpoint, at);
    runtime::RunOptions second = into(name);
    second.resume = runtime::find_checkpoint(folder_ / name, program.model).reader;
    const RunResult rest = runtime::run(program, device, second);
    EXPECT_EQ(rest.resumed_from, at);
    return rest;
  }
  const testing::ScratchFolder scratch_;
  const fs::path folder_ = scratch_ / "out";
};

/// NaN, "no value", equals itself.
bool same(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), sizeof(double) * a.size()) == 0);
}

void expect_same(const RunResult& a, const RunResult& b) {
  EXPECT_EQ(a.steps, b.steps);
  EXPECT_EQ(a.time, b.time);
  ASSERT_EQ(a.state.size(), b.state.size());
  for (std::size_t i = 0; i < a.state.size(); ++i) EXPECT_TRUE(same(a.state[i], b.state[i]));
  ASSERT_EQ(a.series.size(), b.series.size());
  for (std::size_t i = 0; i < a.series.size(); ++i) {
    const auto &s = a.series[i], &other = b.series[i];
    EXPECT_EQ(s.name, other.name);
    EXPECT_EQ(s.steps, other.steps) << s.name;
    EXPECT_EQ(s.times, other.times) << s.name;
    ASSERT_EQ(s.values.size(), other.values.size()) << s.name;
    for (std::size_t row = 0; row < s.values.size(); ++row)
      EXPECT_TRUE(same(s.values[row], other.values[row])) << s.name << ' ' << row;
    ASSERT_EQ(s.errors.size(), other.errors.size()) << s.name;
    for (std::size_t row = 0; row < s.errors.size(); ++row)
      EXPECT_TRUE(same(s.errors[row], other.errors[row])) << s.name << ' ' << row;
  }
  ASSERT_EQ(a.plots.size(), b.plots.size());
  for (std::size_t i = 0; i < a.plots.size(); ++i) {
    EXPECT_TRUE(same(a.plots[i].y, b.plots[i].y));
    EXPECT_TRUE(same(a.plots[i].error, b.plots[i].error));
  }
  ASSERT_EQ(a.expectations.size(), b.expectations.size());
  for (std::size_t i = 0; i < a.expectations.size(); ++i) {
    EXPECT_EQ(a.expectations[i].ok, b.expectations[i].ok);
    EXPECT_EQ(a.expectations[i].value, b.expectations[i].value) << a.expectations[i].text;
    EXPECT_EQ(a.expectations[i].where, b.expectations[i].where);
  }
  ASSERT_EQ(a.failures.size(), b.failures.size());
  for (std::size_t i = 0; i < a.failures.size(); ++i)
    EXPECT_EQ(a.failures[i].message, b.failures[i].message);
}

TEST_F(SweepResume, PartsEqualTheWhole) {
  const Compilation c = testing::compile_text(kNoisy, {});
  const RunResult whole = runtime::run(*c.program, *testing::device("native"), into("whole"));
  ASSERT_GE(whole.series.size(), 3U);
  ASSERT_EQ(whole.plots.size(), 1U);
  for (const std::int64_t at : {1, 37, 200, 215}) {
    expect_same(in_two(*c.program, "parts", at), whole);
    EXPECT_TRUE(content("parts", "noisy") == content("whole", "noisy")) << "stopped at " << at;
    fs::remove_all(folder_ / "parts");
  }
}

TEST_F(SweepResume, ExchangesGoOn) {
  const Compilation c = testing::compile_text(R"(model exchange "Ising spins"
sweep K = [0.3, 0.35, 0.4, 0.45]
lattice torus: 8^2
field s: int, values = [-1, 1]
action S = -K*sum(s*s@k, k)
sample heatbath, sweeps = 60, exchange = K, exchange_every = 3
init s ~ hot
every 5 sweeps: m = mean(s), exchanged, replica -> "exchange.h5"
)",
                                              {});
  const RunResult whole = runtime::run(*c.program, *testing::device("native"), into("whole"));
  for (const std::int64_t at : {12, 31}) {
    expect_same(in_two(*c.program, "parts", at), whole);
    fs::remove_all(folder_ / "parts");
  }
}

TEST_F(SweepResume, ExchangesNeedAllInstancesAtOnce) {
  testing::Simulation options;
  options.batch = 2;
  const Compilation c = testing::compile_text(R"(model exchange "Ising spins"
sweep K = [0.3, 0.35, 0.4]
lattice torus: 8^2
field s: int, values = [-1, 1]
action S = -K*sum(s*s@k, k)
sample heatbath, sweeps = 6, exchange = K
init s ~ hot
every 2 sweeps: m = mean(s) -> "exchange.h5"
)",
                                              options);
  try {
    runtime::run(*c.program, *testing::device("native"), into("whole"));
    FAIL() << "two of three cannot exchange";
  } catch (const runtime::RunError& error) {
    EXPECT_EQ(error.code, "E0802");
    EXPECT_NE(std::string(error.what()).find("only 2 of the 3 instances"), std::string::npos);
  }
}

// 21 instances, five at once: stopped in the first part, in one between and in the last, which has
// one instance only. What waits of the parts before goes through the checkpoint: rows, last values,
// counts of histograms within a given range and, where the range is to be found, all values.
TEST_F(SweepResume, InPartsAsInOneGo) {
  testing::Simulation options;
  options.batch = 5;
  std::string text = kNoisy;
  text += "every 50 steps: histogram(x', bins = 6, over = path) -> \"noisy.h5\"\n";
  const Compilation c = testing::compile_text(text, options);
  ASSERT_EQ(c.program->instances, 5);
  runtime::Device& device = *testing::device("native");
  const RunResult whole = runtime::run(*c.program, device, into("whole"));
  ASSERT_GE(whole.series.size(), 3U);
  for (const auto& [part, at] : {std::pair{0, 30}, {2, 1}, {2, 190}, {4, 100}}) {
    runtime::RunOptions first = into("parts", at);
    StopInPart stop(part, at);
    first.onlooker = &stop;
    const RunResult cut = runtime::run(*c.program, device, first);
    EXPECT_TRUE(cut.interrupted) << part;
    EXPECT_EQ(cut.checkpoint, at);
    runtime::RunOptions second = into("parts");
    second.resume = runtime::find_checkpoint(folder_ / "parts", "noisy").reader;
    const RunResult rest = runtime::run(*c.program, device, second);
    EXPECT_EQ(rest.resumed_from, at);
    expect_same(rest, whole);
    EXPECT_TRUE(content("parts", "noisy") == content("whole", "noisy")) << part << ", " << at;
    fs::remove_all(folder_ / "parts");
  }
}

TEST_F(SweepResume, PartsGoOnWithTheOutputsTheyHad) {
  testing::Simulation options;
  options.batch = 5;
  const Compilation c = testing::compile_text(kNoisy, options);
  runtime::Device& device = *testing::device("native");
  runtime::RunOptions first = into("parts", 30);
  StopInPart stop(1, 30);
  first.onlooker = &stop;
  runtime::run(*c.program, device, first);
  const auto refused = [&](const Compilation& other) {
    runtime::RunOptions second = into("parts");
    second.resume = runtime::find_checkpoint(folder_ / "parts", "noisy").reader;
    try {
      runtime::run(*other.program, device, second);
      return std::string("it went on");
    } catch (const runtime::RunError& error) {
      return error.code;
    }
  };
  EXPECT_EQ(refused(testing::compile_text(std::string(kNoisy) + "expect x^2 < 1e4\n", options)),
            "E0853");
  options.batch = 7;
  EXPECT_EQ(refused(testing::compile_text(kNoisy, options)), "E0853");
}

TEST_F(SweepResume, WhatWasLeftOutStaysOut) {
  const Compilation c = testing::compile_text(kFailing, {});
  const RunResult whole = runtime::run(*c.program, *testing::device("native"), into("whole"));
  ASSERT_EQ(whole.failures.size(), 1U);
  EXPECT_EQ(whole.failures[0].where, "start = 1.5");
  for (const std::int64_t at : {10, 600}) {  // before and after it failed
    expect_same(in_two(*c.program, "parts", at), whole);
    EXPECT_TRUE(content("parts", "failing") == content("whole", "failing")) << at;
    fs::remove_all(folder_ / "parts");
  }
}

TEST_F(SweepResume, ALostFileIsWrittenAgainFromTheCheckpoint) {
  if (!io::have_hdf5()) GTEST_SKIP() << "this build has no HDF5";
  const Compilation c = testing::compile_text(kFailing, {});
  runtime::Device& device = *testing::device("native");
  const RunResult whole = runtime::run(*c.program, device, into("whole"));
  runtime::RunOptions first = into("parts", 500);
  StopAt stop(500);
  first.onlooker = &stop;
  runtime::run(*c.program, device, first);
  fs::remove(folder_ / "parts/failing.h5");
  runtime::RunOptions second = into("parts");
  second.resume = runtime::find_checkpoint(folder_ / "parts", "failing").reader;
  const RunResult rest = runtime::run(*c.program, device, second);
  expect_same(rest, whole);
  const std::string text = content("parts", "failing"), all = content("whole", "failing");
  const auto from = [](const std::string& dump) {
    return dump.substr(dump.find("GROUP\"series\""));
  };
  EXPECT_TRUE(from(text) == from(all));
}

TEST_F(SweepResume, AnotherSweepIsRefused) {
  const Compilation c = testing::compile_text(kFailing, {});
  runtime::Device& device = *testing::device("native");
  runtime::run(*c.program, device, into("a", 100));
  std::string text = kFailing;
  text.replace(text.find("[0.1, 0.5, 1.5]"), 15, "[0.1, 0.5]");
  const Compilation other = testing::compile_text(text, {});
  runtime::RunOptions options = into("a");
  options.resume = runtime::find_checkpoint(folder_ / "a", "failing").reader;
  try {
    runtime::run(*other.program, device, options);
    FAIL() << "a checkpoint of three values went on with two";
  } catch (const runtime::RunError& error) {
    EXPECT_EQ(error.code, "E0853") << error.what();
  }
}

// A pendulum: leapfrog has order 2, so the difference to the run at half the step falls by four
// when dt is halved, at every amplitude and in the period.
TEST_F(SweepResume, TheErrorOfTheStepOfASweep) {
  const std::string text = R"(model swing "Pendulum"
sweep amplitude = [0.3, 1, 2]
var theta: real
theta'' = -sin(theta)
init theta = amplitude, theta' = 0
evolve leapfrog, dt = DT, until = t > 4
period = 4*first(t, theta < 0)
every 1*t0 steps: theta -> "swing.h5"
at end: period -> "swing.h5"
plot period against amplitude
)";
  std::vector<std::vector<tools::Uncertain>> found;
  for (const auto& [dt, every] : {std::pair{"0.02", "50"}, std::pair{"0.01", "100"}}) {
    std::string model = text;
    model.replace(model.find("DT"), 2, dt);
    model.replace(model.find("1*t0"), 4, every);
    fs::create_directories(folder_);
    const std::string path = (folder_ / "swing.vphi").string();
    std::ofstream(path) << model;
    const Compilation c = testing::compile_file(path, {});
    runtime::Device& device = *testing::device("native");
    const RunResult coarse = runtime::run(*c.program, device, {});
    found.push_back(tools::error_check(path, {}, device, coarse, {}).list);
  }
  for (const char* name : {"theta", "period against amplitude"}) {
    const auto *coarse = tools::find(found[0], name), *fine = tools::find(found[1], name);
    ASSERT_TRUE(coarse != nullptr && fine != nullptr) << name;
    ASSERT_FALSE(coarse->differences.empty()) << name;
    ASSERT_EQ(coarse->differences.size(), fine->differences.size()) << name;
    EXPECT_GT(coarse->largest, 1e-6) << name;
    EXPECT_NEAR(coarse->largest / fine->largest, 4, 0.3) << name;
  }
}

}  // namespace
}  // namespace vphi
