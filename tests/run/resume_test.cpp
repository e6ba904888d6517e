// Runs that are stopped and continued: the same bits as without the stop.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "runtime/device/device.hpp"
#include "runtime/run/run.hpp"
#include "runtime/run/state/checkpoints.hpp"
#include "tests/run/wave_program.hpp"
#include "tests/support/scratch.hpp"

namespace vphi::runtime {
namespace {

namespace fs = std::filesystem;
using test::wave_program;
using test::WaveOptions;

class Resume : public ::testing::Test {
 protected:
  RunOptions into(const std::string& name, std::int64_t every = 0) {
    RunOptions options;
    options.out = (folder_ / name).string();
    options.keep.on = true;
    options.keep.every_steps = every;
    options.keep_state = true;
    return options;
  }
  static RunResult go(const program::Program& program, const RunOptions& options) {
    const auto device = open_device("native");
    return run(program, *device, options);
  }
  /// Everything in a result file, as text.
  std::string content(const std::string& name, const std::string& file = "wave.h5") {
    if (!io::have_hdf5()) return {};
    const std::string command =
        "cd '" + (folder_ / name).string() + "' && h5dump " + file + " > dump";
    EXPECT_EQ(std::system(command.c_str()), 0);
    std::ostringstream text;
    text << std::ifstream(folder_ / name / "dump").rdbuf();
    return text.str();
  }
  const testing::ScratchFolder scratch_;
  const fs::path folder_ = scratch_ / "out";
};

void expect_same(const RunResult& a, const RunResult& b) {
  EXPECT_EQ(a.steps, b.steps);
  EXPECT_EQ(a.time, b.time);
  EXPECT_EQ(a.state, b.state);
  EXPECT_EQ(a.scalars, b.scalars);
  ASSERT_EQ(a.series.size(), b.series.size());
  for (std::size_t i = 0; i < a.series.size(); ++i) {
    EXPECT_EQ(a.series[i].name, b.series[i].name);
    EXPECT_EQ(a.series[i].points, b.series[i].points);
  }
  ASSERT_EQ(a.expectations.size(), b.expectations.size());
  for (std::size_t i = 0; i < a.expectations.size(); ++i) {
    EXPECT_EQ(a.expectations[i].value, b.expectations[i].value);
    EXPECT_EQ(a.expectations[i].time, b.expectations[i].time);
    EXPECT_EQ(a.expectations[i].history, b.expectations[i].history);
  }
}

/// Interrupts at the first look at or after a step.
class StopAt : public Onlooker {
 public:
  explicit StopAt(std::int64_t step) : step_(step) {}
  bool attending() const override { return false; }
  void scalars(std::span<const std::string>, const io::Moment&, std::span<const double>) override {}
  void table(const io::Table&, const io::Moment&) override {}
  void checks(const std::vector<ExpectationResult>&) override {}
  Wish between(const Progress& now) override { return now.step >= step_ ? Wish::Stop : Wish::GoOn; }

 private:
  std::int64_t step_;
};

TEST_F(Resume, PartsEqualTheWhole) {
  for (const auto precision : {program::Precision::F64, program::Precision::F32}) {
    for (const std::int64_t at : {1, 17, 50, 99, 150}) {
      WaveOptions wave;
      wave.random = true, wave.steps = 200, wave.precision = precision;
      const auto program = wave_program(wave);
      const RunResult whole = go(program, into("whole"));

      RunOptions first = into("parts", at);
      StopAt stop(at);
      first.onlooker = &stop;
      const RunResult cut = go(program, first);
      EXPECT_TRUE(cut.interrupted);
      EXPECT_EQ(cut.steps, at);
      EXPECT_EQ(cut.checkpoint, at);

      RunOptions second = into("parts");
      second.resume = find_checkpoint(folder_ / "parts", "wave").reader;
      const RunResult rest = go(program, second);
      EXPECT_EQ(rest.resumed_from, at);
      expect_same(rest, whole);
      EXPECT_TRUE(content("parts") == content("whole")) << "stopped at " << at;
      fs::remove_all(folder_);
    }
  }
}

TEST_F(Resume, RowsLaterThanTheCheckpointAreDropped) {
  WaveOptions wave;
  wave.random = true, wave.steps = 200;
  const auto program = wave_program(wave);
  const RunResult whole = go(program, into("whole"));
  go(program, into("parts", 64));  // to the end; the last checkpoint is that of step 192
  RunOptions again = into("parts");
  again.resume = find_checkpoint(folder_ / "parts", "wave").reader;
  EXPECT_EQ(again.resume->head().step, 192);
  expect_same(go(program, again), whole);
  EXPECT_TRUE(content("parts") == content("whole"));
}

TEST_F(Resume, EndCanBeMoved) {
  WaveOptions wave;
  wave.random = true, wave.steps = 100;
  auto program = wave_program(wave);
  RunOptions options = into("parts");
  options.keep.at_end_after = 0;
  EXPECT_EQ(go(program, options).checkpoint, 100);
  program.steps = 200;
  const RunResult whole = go(program, into("whole"));
  RunOptions again = into("parts");
  again.resume = find_checkpoint(folder_ / "parts", "wave").reader;
  EXPECT_TRUE(again.resume->head().finished);
  expect_same(go(program, again), whole);
  EXPECT_TRUE(content("parts") == content("whole"));
}

TEST_F(Resume, StoppedByItsConditionGoesOnWhenTheEndMoves) {
  WaveOptions wave;
  wave.random = true, wave.steps = -1, wave.end = 20.2;
  RunOptions options = into("parts");
  options.keep.at_end_after = 0;
  const RunResult first = go(wave_program(wave), options);
  EXPECT_EQ(first.steps, 41);
  const auto program = wave_program(wave);
  RunOptions again = into("parts");
  again.resume = find_checkpoint(folder_ / "parts", "wave").reader;
  EXPECT_EQ(go(program, again).steps, 41) << "nothing is left to do";
}

TEST_F(Resume, OtherPrecisionIsTheSameToRounding) {
  WaveOptions wave;
  wave.random = true, wave.steps = 100;
  RunOptions options = into("parts", 50);
  go(wave_program(wave), options);
  const RunResult whole = go(wave_program(wave), into("whole"));
  wave.precision = program::Precision::F32;
  RunOptions again = into("parts");
  again.resume = find_checkpoint(folder_ / "parts", "wave").reader;
  EXPECT_EQ(again.resume->head().step, 50);
  const RunResult narrow = go(wave_program(wave), again);
  for (std::size_t i = 0; i < whole.state[0].size(); ++i)
    EXPECT_NEAR(narrow.state[0][i], whole.state[0][i], 1e-4);
}

TEST_F(Resume, NoNumberIsNeverKept) {
  WaveOptions wave;
  wave.steps = 200, wave.poison_step = 97;
  auto program = wave_program(wave);
  program.outputs.clear(), program.watch.clear(), program.progress.clear();
  program.expectations.clear();
  EXPECT_THROW(go(program, into("parts", 25)), RunError);
  const auto found = find_checkpoint(folder_ / "parts", "wave");
  EXPECT_EQ(found.reader->head().step, 75);
  found.reader->check();
}

TEST_F(Resume, AnotherProgramIsRefused) {
  WaveOptions wave;
  wave.steps = 100;
  go(wave_program(wave), into("parts", 50));
  auto program = wave_program(wave);
  RunOptions again = into("parts");
  again.resume = find_checkpoint(folder_ / "parts", "wave").reader;
  program.buffers[0].name = "chi";
  try {
    go(program, again);
    FAIL();
  } catch (const RunError& error) {
    EXPECT_EQ(error.code, "E0853");
    EXPECT_NE(std::string(error.what()).find("chi"), std::string::npos);
  }
}

TEST_F(Resume, NothingToResumeFrom) {
  for (const fs::path& place : {folder_ / "nowhere", folder_}) {
    try {
      find_checkpoint(place, "wave");
      FAIL();
    } catch (const RunError& error) {
      EXPECT_EQ(error.code, "E0850");
    }
    fs::create_directories(folder_);
  }
}

TEST_F(Resume, DamageIsFoundAtEveryPlace) {
  WaveOptions wave;
  wave.steps = 100, wave.sites = 16;
  go(wave_program(wave), into("parts", 50));
  const auto files = checkpoint_files(folder_ / "parts", "wave");
  std::ostringstream text;
  text << std::ifstream(files.newest, std::ios::binary).rdbuf();
  const std::string sound = text.str();
  const auto reads = [&](const std::string& bytes) {
    const auto read = [&bytes](std::uint64_t at, std::span<std::byte> to) -> std::size_t {
      const std::size_t count = at < bytes.size() ? std::min(to.size(), bytes.size() - at) : 0;
      std::copy_n(reinterpret_cast<const std::byte*>(bytes.data()) + at, count, to.data());
      return count;
    };
    CheckpointReader({bytes.size(), read}).check();
  };
  reads(sound);
  for (std::size_t at = 0; at < sound.size(); ++at) {
    std::string bad = sound;
    bad[at] = static_cast<char>(bad[at] ^ (1 << (at % 8)));
    ASSERT_THROW(reads(bad), DamagedCheckpoint) << "a flipped bit at " << at;
    fuzz_checkpoint(std::as_bytes(std::span(bad)));
  }
  for (std::size_t length = 0; length < sound.size(); length += 1 + length / 64)
    ASSERT_THROW(reads(sound.substr(0, length)), DamagedCheckpoint) << "cut at " << length;
  EXPECT_THROW(reads(sound + "x"), DamagedCheckpoint);
}

TEST_F(Resume, DamagedFallsBackToTheOneBefore) {
  WaveOptions wave;
  wave.random = true, wave.steps = 200;
  const auto program = wave_program(wave);
  const RunResult whole = go(program, into("whole"));
  go(program, into("parts", 64));
  const auto files = checkpoint_files(folder_ / "parts", "wave");
  fs::resize_file(files.newest, fs::file_size(files.newest) / 2);
  const auto found = find_checkpoint(folder_ / "parts", "wave");
  EXPECT_EQ(found.reader->head().step, 128);
  ASSERT_EQ(found.notes.size(), 1U);
  EXPECT_NE(found.notes[0].find("of step 128, is used"), std::string::npos) << found.notes[0];
  RunOptions again = into("parts");
  again.resume = found.reader;
  expect_same(go(program, again), whole);
  EXPECT_TRUE(content("parts") == content("whole"));

  std::ofstream(files.newest, std::ios::binary) << "rubbish";
  EXPECT_FALSE(fs::exists(files.before)) << "the sound one had become the newest";
  try {
    find_checkpoint(folder_ / "parts", "wave");
    FAIL();
  } catch (const RunError& error) {
    EXPECT_EQ(error.code, "E0850");
    EXPECT_NE(std::string(error.what()).find("damaged"), std::string::npos);
    EXPECT_NE(error.hint.find("--restart"), std::string::npos);
  }
}

TEST_F(Resume, UnwritableCheckpointIsToldAndTheRunGoesOn) {
  WaveOptions wave;
  wave.steps = 100;
  fs::create_directories(folder_ / "parts");
  std::ofstream(folder_ / "parts" / "checkpoint") << "in the way";
  auto program = wave_program(wave);
  for (auto& output : program.outputs) output.file.clear();
  RunOptions options = into("parts", 50);
  std::vector<std::string> told;
  options.tell = [&](const std::string& text) { told.push_back(text); };
  const RunResult result = go(program, options);
  EXPECT_EQ(result.steps, 100);
  EXPECT_EQ(result.checkpoint, -1);
  ASSERT_FALSE(told.empty());
  EXPECT_NE(told[0].find("no checkpoint at step 50"), std::string::npos) << told[0];
}

TEST(AllFinite, SeesEveryBadNumber) {
  for (std::size_t at : {0UL, 511UL, 512UL, 1024UL, 1533UL}) {
    std::vector<double> wide(1534, 1e300);
    std::vector<float> narrow(1534, -1e38F);
    EXPECT_TRUE(all_finite(std::as_bytes(std::span(wide)), program::Precision::F64));
    EXPECT_TRUE(all_finite(std::as_bytes(std::span(narrow)), program::Precision::F32));
    wide[at] = NAN, narrow[at] = -INFINITY;
    EXPECT_FALSE(all_finite(std::as_bytes(std::span(wide)), program::Precision::F64));
    EXPECT_FALSE(all_finite(std::as_bytes(std::span(narrow)), program::Precision::F32));
  }
}

}  // namespace
}  // namespace vphi::runtime
