// Files restored to an earlier state: random writes against a copy in memory, incomplete logs,
// truncated result files.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "runtime/io/files/crc32c.hpp"
#include "runtime/io/files/undo_file.hpp"
#include "runtime/io/results.hpp"
#include "tests/run/wave_program.hpp"
#include "tests/support/scratch.hpp"

namespace vphi::io {
namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<std::byte>;

class Undo : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_ / "logs"); }

  static std::string text_of(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
  }
  /// What a process that is killed now leaves behind.
  fs::path left_behind(const std::string& name) const {
    const fs::path copy = folder_ / name;
    fs::remove_all(copy);
    fs::create_directories(copy);
    for (const char* part : {"file", "logs", "wave.h5", "wave.csv"})
      if (fs::exists(folder_ / part))
        fs::copy(folder_ / part, copy / part, fs::copy_options::recursive);
    return copy;
  }
  const testing::ScratchFolder scratch_;
  const fs::path& folder_ = scratch_.path();
};

// Killed after the file has gone back, before the later log is removed: the next process does it
// again, with a file that is shorter than it was at the later mark.
TEST_F(Undo, GoingBackTwiceIsGoingBackOnce) {
  const auto bytes = [](std::size_t n, int value) {
    return Bytes(n, static_cast<std::byte>(value));
  };
  std::string marked;
  {
    UndoFile file(folder_ / "file", folder_ / "logs/file", true);
    file.write(0, bytes(10000, 1));
    file.mark(1);
    marked = text_of(folder_ / "file");
    file.write(5000, bytes(30000, 2));
    file.mark(2);
    file.write(100, bytes(50000, 3));
  }
  const fs::path logs = folder_ / "kept";
  fs::copy(folder_ / "logs", logs, fs::copy_options::recursive);
  for (int time = 0; time < 2; ++time) {
    UndoFile file(folder_ / "file", folder_ / "logs/file", false);
    file.go_back(1);
    EXPECT_TRUE(text_of(folder_ / "file") == marked) << "time " << time;
    fs::remove_all(folder_ / "logs");
    fs::copy(logs, folder_ / "logs", fs::copy_options::recursive);
  }
  fs::resize_file(folder_ / "file", 9999);
  UndoFile file(folder_ / "file", folder_ / "logs/file", false);
  EXPECT_THROW(file.go_back(1), ResultsError);
}

TEST(Crc32c, CheckValueAndPieces) {
  const std::string digits = "123456789";  // the check value of the CRC catalogue
  const auto bytes = std::as_bytes(std::span(digits));
  EXPECT_EQ(crc32c(bytes), 0xE3069283U);
  EXPECT_EQ(crc32c_by_table(bytes), 0xE3069283U);
  EXPECT_EQ(crc32c(bytes.subspan(4), crc32c(bytes.first(4))), 0xE3069283U);
  std::mt19937 random(3);
  Bytes many(10007);
  for (auto& b : many) b = static_cast<std::byte>(random());
  EXPECT_EQ(crc32c(many), crc32c_by_table(many));
  EXPECT_EQ(crc32c(std::span(many).subspan(5), crc32c(std::span(many).first(5))), crc32c(many));
}

TEST_F(Undo, GoesBackFromAnyMoment) {
  std::mt19937 random(11);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  for (int trial = 0; trial < 6; ++trial) {
    UndoFile file(folder_ / "file", folder_ / "logs" / "file", true);
    std::map<std::int64_t, std::string> at_mark;
    for (std::int64_t generation = 1; generation <= 4; ++generation) {
      for (std::size_t i = 0, count = below(30); i < count; ++i) {
        if (below(10) == 0) {
          file.resize(below(15000));
          continue;
        }
        Bytes bytes(1 + below(9000));
        for (auto& b : bytes) b = static_cast<std::byte>(random());
        file.write(below(file.size() + 1), bytes);
      }
      if (trial % 3 == 0) file.commit();
      file.mark(generation);
      at_mark[generation] = text_of(folder_ / "file");
    }
    file.write(0, Bytes(50000, std::byte{7}));
    if (trial % 2 == 0) file.commit();
    for (std::int64_t back : {4, 3, 2}) {
      const fs::path left = left_behind("copy");
      UndoFile again(left / "file", left / "logs" / "file", false);
      again.go_back(back);
      ASSERT_TRUE(text_of(left / "file") == at_mark[back]) << "trial " << trial;
      again.write(17, Bytes(20000, std::byte{1}));  // and once more from there
      again.go_back(back);
      ASSERT_TRUE(text_of(left / "file") == at_mark[back]) << "trial " << trial;
    }
    file.forget_before(3);
    EXPECT_FALSE(fs::exists(folder_ / "logs" / "file.2.undo"));
    UndoFile again(folder_ / "file", folder_ / "logs" / "file", false);
    EXPECT_THROW(again.go_back(2), ResultsError);
    again.go_back(3);
    EXPECT_EQ(text_of(folder_ / "file"), at_mark[3]);
  }
}

TEST_F(Undo, TornRecordBelongsToAnUntouchedPage) {
  std::string before;
  {
    UndoFile file(folder_ / "file", folder_ / "logs" / "file", true);
    file.write(0, Bytes(20000, std::byte{5}));
    file.mark(1);
    before = text_of(folder_ / "file");
    file.write(100, Bytes(10, std::byte{9}));
    Bytes seen(110);
    file.read(0, seen);
    EXPECT_EQ(seen[99], std::byte{5});
    EXPECT_EQ(seen[100], std::byte{9});
    EXPECT_EQ(text_of(folder_ / "file"), before) << "old pages wait for commit";
  }
  // The log ends in the middle of a record for page 2, which was not overwritten yet.
  std::ofstream(folder_ / "logs" / "file.1.undo", std::ios::app | std::ios::binary)
      << std::string("\0\x20\0\0\0\0\0\0\0\x10\0\0half", 16);
  UndoFile file(folder_ / "file", folder_ / "logs" / "file", false);
  file.go_back(1);
  EXPECT_EQ(text_of(folder_ / "file"), before);
}

/// Series, spectra and snapshots of `steps` moments from `first` on.
void write_moments(Results& results, const std::string& name, int first, int last) {
  for (int step = first; step <= last; ++step) {
    const Moment at{step, 0.5 * step};
    const std::vector<std::string> names{"energy", "odd/name"};
    results.file(name).scalars(names, at, std::array{1.0 * step, -2.0 * step});
    if (step % 40 != 0) continue;
    const std::vector<double> field(64, step);
    results.file(name).table({.kind = program::OutputKind::Snapshot,
                              .name = "phi",
                              .shape = {64},
                              .values = field,
                              .precision = program::Precision::F32},
                             at);
    results.file(name).table({.kind = program::OutputKind::Spectrum,
                              .name = "phi",
                              .shape = {1, 4},
                              .values = {0.5, 1.0 * step, 2, 3.5},
                              .columns = {"k", "P", "Delta", "modes"}},
                             at);
  }
}

class ResultsUndo : public Undo, public ::testing::WithParamInterface<const char*> {};

TEST_P(ResultsUndo, ContinuedIsUninterrupted) {
  const auto program = test::wave_program({});
  const std::string name = GetParam();
  if (name.ends_with(".h5") && !have_hdf5()) GTEST_SKIP() << "built without HDF5";
  const auto dump = [&](const fs::path& folder) {
    if (!name.ends_with(".h5")) return text_of(folder / "wave.series.csv");
    const fs::path out = folder_ / "dump.txt";
    const std::string command =
        "cd '" + folder.string() + "' && h5dump wave.h5 > '" + out.string() + "'";
    EXPECT_EQ(std::system(command.c_str()), 0);
    return text_of(out);
  };
  const fs::path whole = folder_ / "whole";
  {
    Results results(whole, program);
    write_moments(results, name, 0, 1500);
    results.flush();
  }
  Results results(folder_, program, folder_ / "logs");
  write_moments(results, name, 0, 600);
  results.mark(1);
  write_moments(results, name, 601, 1000);
  const auto marks = results.mark(2);
  write_moments(results, name, 1001, 1250);
  if (name.ends_with(".csv")) results.flush();
  fs::path left = folder_ / "left";
  fs::create_directories(left);
  for (const auto& entry : fs::directory_iterator(folder_))
    if (entry.path().filename().string().starts_with("wave") || entry.path().filename() == "logs")
      fs::copy(entry.path(), left / entry.path().filename(), fs::copy_options::recursive);
  {
    Results again(left, program, left / "logs");
    EXPECT_TRUE(again.go_back(2, {1000, 500.0}, marks).empty());
    write_moments(again, name, 1000, 1500);  // the row of the mark is there already
    again.flush();
  }
  EXPECT_TRUE(dump(left) == dump(whole));
}

TEST_P(ResultsUndo, LostFileStartsAgainAndSaysSo) {
  const auto program = test::wave_program({});
  const std::string name = GetParam();
  std::vector<std::pair<std::string, std::string>> marks;
  {
    Results results(folder_, program, folder_ / "logs");
    write_moments(results, name, 0, 10);
    marks = results.mark(1);
  }
  for (const auto& entry : fs::directory_iterator(folder_))
    if (entry.is_regular_file()) fs::resize_file(entry.path(), 3);
  Results again(folder_, program, folder_ / "logs");
  EXPECT_EQ(again.go_back(1, {10, 5.0}, marks), std::vector<std::string>{name});
  ASSERT_EQ(again.notes().size(), 1U);
  EXPECT_NE(again.notes()[0].find("shorter"), std::string::npos) << again.notes()[0];
  write_moments(again, name, 11, 12);
  again.flush();
}

INSTANTIATE_TEST_SUITE_P(Kinds, ResultsUndo, ::testing::Values("wave.h5", "wave.csv"),
                         [](const auto& info) { return std::string(info.param).substr(5); });

}  // namespace
}  // namespace vphi::io
