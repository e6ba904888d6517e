// kill -9 at random moments, again and again: the run that follows goes on from the last checkpoint
// and ends with the same bits, in its results and in its files, as one that nobody disturbed.
// VPHI_KILLS sets how often (default 6), VPHI_KILL_SEED the moments.
#include <random>

#include "runtime/run/keeper.hpp"
#include "tests/faults/child.hpp"

namespace vphi::test {
namespace {

int from_environment(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::atoi(text) : otherwise;
}

class Kill : public Faults {};

TEST_F(Kill, NothingOlderThanTheLastCheckpointIsLost) {
  const int kills = from_environment("VPHI_KILLS", 6);
  std::mt19937 random(static_cast<unsigned>(from_environment("VPHI_KILL_SEED", 5)));
  constexpr std::int64_t kSteps = 1200;
  const auto begun = std::chrono::steady_clock::now();
  Child whole(folder_, run_words("whole", kSteps));
  ASSERT_EQ(whole.wait(), 0) << whole.error();
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  const std::string expected = content("whole"), expected_numbers = numbers(whole.out());

  const auto files = runtime::checkpoint_files(folder_ / "parts", "small");
  const std::vector<std::string> every{"--checkpoint-every", "12 steps"};
  int killed = 0, resumed = 0, finished = 0;
  while (killed < kills || finished == 0) {
    std::vector<std::string> more = every;
    const bool kept = fs::exists(files.newest) || fs::exists(files.before);
    std::int64_t last = -1;
    if (kept) {
      more.emplace_back("--resume");
      for (const auto& path : {files.newest, files.before})
        if (last < 0 && fs::exists(path)) last = runtime::CheckpointReader(path).head().step;
    }
    Child run(folder_, run_words("parts", kSteps, more));
    const bool kill_it = killed < kills;
    const double moment = std::uniform_real_distribution(0.0, 1.3 * seconds)(random);
    const auto start = std::chrono::steady_clock::now();
    while (
        run.running() &&
        (!kill_it ||
         std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() < moment))
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (run.running()) run.signal(SIGKILL);
    const int status = run.wait();  // it may have ended by itself before the signal came
    if (status == -SIGKILL) {
      ++killed;
      continue;
    }
    ASSERT_EQ(status, 0) << run.error();
    ++finished;
    if (kept) {
      ++resumed;
      EXPECT_TRUE(holds(run.error(), "goes on from step " + std::to_string(last) + ","))
          << run.error();
    }
    ASSERT_TRUE(numbers(run.out()) == expected_numbers) << "after " << killed << " kills";
    ASSERT_TRUE(content("parts") == expected) << "after " << killed << " kills";
    fs::remove_all(folder_ / "parts");
  }
  RecordProperty("killed", killed);
  RecordProperty("finished", finished);
  std::printf("%d kills, %d runs to their end, %d of them resumed\n", killed, finished, resumed);
}

}  // namespace
}  // namespace vphi::test
