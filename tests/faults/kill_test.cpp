// kill -9 at random moments, again and again: the run that follows goes on from the last checkpoint
// and ends with the same bits, in its results and in its files, as a run without interruption.
// VPHI_KILLS sets how often (default 6), VPHI_KILL_SEED the moments.
#include <random>

#include "runtime/run/state/checkpoints.hpp"
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

// The same with an ensemble in five parts: those that ended are in the checkpoint of the next.
TEST_F(Kill, PartsOfASweepGoOn) {
  const int kills = from_environment("VPHI_KILLS", 6);
  std::mt19937 random(static_cast<unsigned>(from_environment("VPHI_KILL_SEED", 5)));
  std::ofstream(folder_ / "paths.vphi") << R"(model paths "Paths in a well, some at a time"
sweep path = 1..300
var x: real
x'' = -x - x' + noise
init x = 1, x' ~ normal
evolve baoab, dt = 0.02, until = t > 6000
every 30000 steps: mean(x^2, over = path), x -> "paths.h5"
at end: histogram(x, bins = 9, over = path) -> "paths.h5"
expect mean(x^2, over = [path, time]) < 2
)";
  const auto words = [](const std::string& out, const std::vector<std::string>& more) {
    std::vector<std::string> all{"run", "paths.vphi", "--device", "native", "--json", "--out", out};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const auto dump = [&](const std::string& out) {
    const std::string at = (folder_ / out).string();
    EXPECT_EQ(std::system(("cd '" + at + "' && h5dump paths.h5 > dump.txt").c_str()), 0) << at;
    return text_of(folder_ / out / "dump.txt");
  };
  const auto begun = std::chrono::steady_clock::now();
  Child whole(folder_, words("whole", {"--batch", "60"}));
  ASSERT_EQ(whole.wait(), 0) << whole.error();
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  const std::string expected = dump("whole"), expected_numbers = numbers(whole.out());
  EXPECT_TRUE(holds(whole.out(), "300 instances in 5 parts of up to 60")) << whole.out();

  const auto files = runtime::checkpoint_files(folder_ / "parts", "paths");
  int killed = 0, resumed = 0;
  while (true) {
    std::vector<std::string> more{"--checkpoint-every", "20000 steps"};
    const bool kept = fs::exists(files.newest) || fs::exists(files.before);
    if (kept)
      more.emplace_back("--resume");  // the size of the parts is in the checkpoint
    else
      more.insert(more.end(), {"--batch", "60"});
    Child run(folder_, words("parts", more));
    // The first leaves a checkpoint to go on from; when the others come is left to chance.
    const auto moment = std::chrono::duration<double>(
        killed < kills ? std::uniform_real_distribution(0.2, 0.9)(random) * seconds : 1e6);
    const auto start = std::chrono::steady_clock::now();
    while (run.running() && (killed == 0 ? !fs::exists(files.newest)
                                         : std::chrono::steady_clock::now() - start < moment))
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (run.running()) run.signal(SIGKILL);
    const int status = run.wait();
    resumed += kept ? 1 : 0;
    if (status == -SIGKILL) {
      ++killed;
      continue;
    }
    ASSERT_EQ(status, 0) << run.error();
    ASSERT_TRUE(numbers(run.out()) == expected_numbers) << "after " << killed << " kills";
    ASSERT_TRUE(dump("parts") == expected) << "after " << killed << " kills";
    break;
  }
  EXPECT_GE(resumed, 1);
  std::printf("%d kills, %d runs went on\n", killed, resumed);
}

}  // namespace
}  // namespace vphi::test
