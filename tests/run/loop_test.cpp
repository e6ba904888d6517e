// The time loop on the processor, with a program written by hand.
#include <gtest/gtest.h>

#include <fstream>

#include "runtime/device/device.hpp"
#include "runtime/io/results.hpp"
#include "runtime/run/run.hpp"
#include "tests/run/wave_program.hpp"

namespace vphi::runtime {
namespace {

using test::wave_exact;
using test::wave_program;
using test::WaveOptions;

RunResult run_wave(const WaveOptions& wave, RunOptions options = {}) {
  const auto program = wave_program(wave);
  const auto device = open_device("native");
  options.keep_state = true;
  return run(program, *device, options);
}

TEST(Loop, StandingWaveToRounding) {
  for (std::int64_t steps : {1, 2, 3, 64, 101, 1000}) {
    WaveOptions wave;
    wave.steps = steps;
    const RunResult result = run_wave(wave);
    ASSERT_EQ(result.steps, steps);
    ASSERT_EQ(result.state.size(), 2U);
    for (std::int64_t i = 0; i < wave.sites; ++i)
      ASSERT_NEAR(result.state[0][i], wave_exact(wave, i, steps), 1e-11) << steps << " steps";
  }
}

TEST(Loop, ManyStepsEqualStepsOneByOne) {
  WaveOptions wave;
  wave.random = true;
  wave.sites = 37;
  const auto program = wave_program(wave);
  const auto device = open_device("native");
  Session once(program, *device), single(program, *device);
  once.start(), single.start();
  EXPECT_EQ(once.read(test::kPhi), single.read(test::kPhi));
  once.prepare(123);
  once.advance(123);
  for (int i = 0; i < 123; ++i) single.advance(1);
  device->synchronise();
  EXPECT_EQ(once.read(test::kPhi), single.read(test::kPhi));
  EXPECT_EQ(once.read(test::kPi), single.read(test::kPi));
  EXPECT_EQ(once.scalars()[test::kStep], 123);
}

TEST(Loop, RandomStartDependsOnSeedAlone) {
  WaveOptions wave;
  wave.random = true, wave.steps = 0;
  RunOptions one, three;
  one.threads = 1, three.threads = 3;
  const auto a = run_wave(wave, one).state[0], b = run_wave(wave, three).state[0];
  EXPECT_EQ(a, b);
  double square = 0;
  for (double v : a) square += v * v;
  EXPECT_NEAR(square / static_cast<double>(a.size()), 1, 0.9);
}

TEST(Loop, SeriesAndExpectations) {
  WaveOptions wave;
  wave.steps = 95;
  const RunResult result = run_wave(wave);
  const Series* energy = result.find("energy");
  ASSERT_NE(energy, nullptr);
  ASSERT_EQ(energy->points.size(), 11U);  // 0, 10, ..., 90 and the end
  EXPECT_EQ(energy->points[3].first, 15);
  EXPECT_EQ(energy->points.back().first, 47.5);
  ASSERT_EQ(result.expectations.size(), 2U);
  EXPECT_TRUE(result.all_expected()) << result.expectations[0].value;
  EXPECT_LT(result.expectations[0].value, 1e-12);
  EXPECT_EQ(result.scalar("energy"), energy->points.back().second);
  EXPECT_GT(result.performance.site_updates_per_s, 0);
  EXPECT_EQ(result.performance.bytes_per_site, 32);
}

TEST(Loop, BrokenPromiseIsReported) {
  auto program = wave_program({});
  program.expectations[0].bound = 1e-30;
  const auto device = open_device("native");
  const RunResult result = run(program, *device);
  EXPECT_FALSE(result.all_expected());
}

TEST(Loop, StopsWhenTheConditionHolds) {
  WaveOptions wave;
  wave.steps = -1, wave.end = 33.3;
  const RunResult result = run_wave(wave);
  EXPECT_EQ(result.steps, 67);  // the first step beyond t = 33.3 with dt = 0.5
  EXPECT_EQ(result.time, 33.5);
  for (std::int64_t i = 0; i < wave.sites; ++i)
    ASSERT_NEAR(result.state[0][i], wave_exact(wave, i, 67), 1e-12);
  EXPECT_EQ(result.find("energy")->points.back().first, 33.5);
}

TEST(Loop, NoEndIsAnError) {
  auto program = wave_program({});
  program.steps = -1, program.stop_slot = -1;
  const auto device = open_device("native");
  EXPECT_THROW(run(program, *device), RunError);
}

TEST(Loop, NanNamesSiteStepAndLine) {
  WaveOptions wave;
  wave.poison_step = 42;
  try {
    run_wave(wave);
    FAIL() << "a NaN went unnoticed";
  } catch (const RunError& error) {
    const std::string text = error.what();
    EXPECT_EQ(error.code, "E0801");
    EXPECT_NE(text.find("phi"), std::string::npos) << text;
    EXPECT_NE(text.find("nan"), std::string::npos) << text;
    EXPECT_NE(text.find("in step 43"), std::string::npos) << text;
    EXPECT_NE(text.find("at site (5)"), std::string::npos) << text;
    const auto* broken = dynamic_cast<const BrokenState*>(&error);
    ASSERT_NE(broken, nullptr);
    EXPECT_EQ(broken->step, 43);
    ASSERT_TRUE(broken->before);
    EXPECT_NEAR(broken->before(0, {5, 0, 0, 0}), wave_exact(wave, 5, 42), 1e-11);
    EXPECT_EQ(broken->scalars_before[test::kStep], 42);
  }
}

TEST(Loop, RunawayIsStopped) {
  WaveOptions wave;
  wave.dt = 1.1, wave.random = true, wave.steps = 2000;  // beyond the limit dt = 1: grows
  auto program = wave_program(wave);
  program.progress[0].drift = true;
  const auto device = open_device("native");
  try {
    run(program, *device);
    FAIL() << "an energy that grew by eight orders went unnoticed";
  } catch (const RunError& error) {
    EXPECT_EQ(error.code, "E0806") << error.what();
    EXPECT_NE(std::string(error.what()).find("energy"), std::string::npos);
  }
}

TEST(Loop, NanIsFoundWithoutOutputs) {
  WaveOptions wave;
  wave.poison_step = 42;
  auto program = wave_program(wave);
  program.outputs.clear(), program.watch.clear(), program.expectations.clear();
  program.progress.clear();
  const auto device = open_device("native");
  EXPECT_THROW(run(program, *device), RunError);
}

TEST(Loop, InterruptionFinishesTheStep) {
  WaveOptions wave;
  wave.steps = 1'000'000'000;
  std::atomic<bool> interrupt = false;
  RunOptions options;
  options.interrupt = &interrupt;
  options.progress_interval = 0;
  options.progress = [&](const Progress& now) { interrupt = now.step > 1000; };
  const RunResult result = run_wave(wave, options);
  EXPECT_TRUE(result.interrupted);
  EXPECT_GT(result.steps, 1000);
  EXPECT_LT(result.steps, wave.steps);
  for (std::int64_t i = 0; i < wave.sites; ++i)
    ASSERT_NEAR(result.state[0][i], wave_exact(wave, i, result.steps), 1e-6);
}

TEST(Loop, ProgressCounts) {
  WaveOptions wave;
  wave.steps = 5000;
  RunOptions options;
  options.progress_interval = 0;
  std::int64_t last = -1;
  options.progress = [&](const Progress& now) {
    EXPECT_GE(now.step, last);
    EXPECT_EQ(now.steps, 5000);
    ASSERT_EQ(now.watched.size(), 1U);
    EXPECT_EQ(now.watched[0].first, "energy");
    last = now.step;
  };
  run_wave(wave, options);
  EXPECT_EQ(last, 5000);
}

TEST(Loop, TooLargeForTheDevice) {
  auto program = wave_program({});
  program.extent[0] = std::int64_t{1} << 39;
  const auto device = open_device("native");
  try {
    Session session(program, *device);
    FAIL() << "8 TB were accepted";
  } catch (const RunError& error) {
    EXPECT_EQ(error.code, "E0802");
    EXPECT_NE(error.hint.find("--lattice"), std::string::npos);
  }
}

TEST(Loop, MemoryEstimateIsWhatIsHeld) {
  for (auto precision : {program::Precision::F32, program::Precision::F64}) {
    WaveOptions wave;
    wave.sites = 1000, wave.random = true, wave.precision = precision;
    const auto program = wave_program(wave);
    const auto device = open_device("native");
    const RunResult result = run(program, *device);
    // phi twice and pi; the noise and the copy for output share the second phi
    const std::size_t word = precision == program::Precision::F32 ? 4 : 8;
    EXPECT_EQ(memory_needed(program).state, 3000 * word + test::kSlots * 8 + 4 * 4);
    EXPECT_EQ(result.performance.device_bytes, 3000 * word);
  }
}

TEST(Loop, LargestLatticeFits) {
  const auto program = wave_program({});
  for (std::size_t bytes : {10000, 1000000, 100000000}) {
    auto large = program;
    large.extent = largest_lattice(program, bytes);
    EXPECT_LE(memory_needed(large).peak, bytes);
    EXPECT_GT(memory_needed(large).peak, bytes / 2);
  }
}

TEST(Loop, VelocityFlippedGoesBack) {
  WaveOptions wave;
  wave.random = true;
  const auto program = wave_program(wave);
  const auto device = open_device("native");
  Session session(program, *device);
  session.start();
  const auto start = session.read(test::kPhi);
  session.advance(200);
  // Kick-drift undone: step phi back with the last pi, then run with pi reversed.
  auto phi = session.read(test::kPhi), pi = session.read(test::kPi);
  for (std::size_t i = 0; i < phi.size(); ++i) phi[i] -= wave.dt * pi[i], pi[i] = -pi[i];
  session.write(test::kPhi, phi), session.write(test::kPi, pi);
  session.advance(199);
  const auto back = session.read(test::kPhi);
  for (std::size_t i = 0; i < back.size(); ++i) EXPECT_NEAR(back[i], start[i], 1e-11);
}

}  // namespace
}  // namespace vphi::runtime
