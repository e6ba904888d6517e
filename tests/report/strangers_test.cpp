// Damaged result files give a message, even where the HDF5 library crashes on them.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <random>
#include <sstream>

#include "runtime/device/device.hpp"
#include "runtime/io/results.hpp"
#include "runtime/report/read.hpp"
#include "runtime/run/run.hpp"
#include "tests/run/wave_program.hpp"
#include "tests/support/scratch.hpp"

namespace vphi::report {
namespace {

std::string bytes_of(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

TEST(Strangers, EndNobodysProcess) {
  if (!io::have_hdf5()) GTEST_SKIP() << "this build has no HDF5";
  const testing::ScratchFolder folder;
  {
    const auto device = runtime::open_device("native");
    runtime::RunOptions options;
    options.out = folder.path().string();
    runtime::run(vphi::test::wave_program({}), *device, options);
  }
  const std::string sound = bytes_of(folder / "wave.h5");
  ASSERT_GT(sound.size(), 1000U);
  // Where texts of variable length lie, which the library trusts most.
  std::vector<std::size_t> heaps;
  for (auto at = sound.find("GCOL"); at != std::string::npos; at = sound.find("GCOL", at + 1))
    heaps.push_back(at);
  ASSERT_FALSE(heaps.empty());
  std::mt19937 random(1);
  int read = 0, refused = 0, deadly = 0;
  for (int trial = 0; trial < 120; ++trial) {
    std::string bad = sound;
    for (int k = 0; k < 3; ++k) {
      const std::size_t heap = heaps[random() % heaps.size()];
      const std::size_t at = trial % 2 == 0 ? heap + random() % 64 : random() % bad.size();
      if (at < bad.size()) bad[at] = static_cast<char>(random() % 256);
    }
    const auto path = folder / "bad.h5";
    std::ofstream(path, std::ios::binary) << bad;
    try {
      Report report;
      read_results(report, path);
      ++read;
    } catch (const io::ResultsError& error) {
      ++refused;
      deadly += std::string(error.what()).find("does not survive") != std::string::npos ? 1 : 0;
    }
  }
  EXPECT_EQ(read + refused, 120);
  EXPECT_GT(refused, 0);
  std::printf("%d were read, %d refused, %d of them deadly\n", read, refused, deadly);
  Report whole;
  read_results(whole, folder / "wave.h5");
  EXPECT_FALSE(whole.series.empty());
}

}  // namespace
}  // namespace vphi::report
