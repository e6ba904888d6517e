// Faults of the environment: signals, full disks, folders that cannot be written, damaged
// checkpoints, changed models. Each gives a message, and the next run gives the right numbers.
#include "runtime/io/results.hpp"
#include "runtime/run/state/checkpoints.hpp"
#include "tests/faults/child.hpp"

namespace vphi::test {
namespace {

constexpr std::int64_t kSteps = 640;

class Fault : public Faults {
 protected:
  runtime::CheckpointFiles files() const {
    return runtime::checkpoint_files(folder_ / "r", "small");
  }
  void expect_whole() {
    Child again(folder_, run_words("r", kSteps, {"--resume"}));
    ASSERT_EQ(again.wait(), 0) << again.error();
    EXPECT_TRUE(holds(again.error(), "goes on from step")) << again.error();
    Child whole(folder_, run_words("whole", kSteps));
    ASSERT_EQ(whole.wait(), 0);
    EXPECT_TRUE(numbers(again.out()) == numbers(whole.out()));
    EXPECT_TRUE(content("r") == content("whole"));
  }
  /// A run to its end that leaves checkpoints of two steps.
  void run_with_checkpoints() {
    Child first(folder_, run_words("r", kSteps, {"--checkpoint-every", "250 steps"}));
    ASSERT_EQ(first.wait(), 0) << first.error();
    ASSERT_TRUE(fs::exists(files().newest) && fs::exists(files().before));
  }
};

TEST_F(Fault, TerminationFinishesTheStepAndSaysHowToGoOn) {
  Child run(folder_, run_words("r", 100'000'000));
  while (run.running() && !fs::exists(folder_ / "r" / "small.h5"))
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  run.signal(SIGTERM);
  EXPECT_EQ(run.wait(), 143) << run.error();
  EXPECT_TRUE(holds(run.error(), "--resume=r")) << run.error();
  ASSERT_TRUE(fs::exists(files().newest)) << run.error();
  const std::int64_t step = runtime::CheckpointReader(files().newest).head().step;
  Child again(folder_, run_words("r", step + 100, {"--resume"}));
  ASSERT_EQ(again.wait(), 0) << again.error();
  Child whole(folder_, run_words("whole", step + 100));
  ASSERT_EQ(whole.wait(), 0);
  EXPECT_TRUE(numbers(again.out()) == numbers(whole.out()));
  EXPECT_TRUE(content("r") == content("whole"));
}

TEST_F(Fault, CheckpointOnDemand) {
  Child run(folder_, run_words("r", 100'000'000));
  while (run.running() && !fs::exists(folder_ / "r" / "small.h5"))
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  ASSERT_FALSE(fs::exists(files().newest));
  run.signal(SIGUSR1);
  while (run.running() && !fs::exists(files().newest))
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_TRUE(run.running()) << run.error();
  run.signal(SIGKILL);
  run.wait();
  runtime::CheckpointReader(files().newest).check();
}

TEST_F(Fault, FullDiskForResults) {
  for (const char* ranks : {"1", "2"}) {  // ranks: the first alone writes, and all end with it
    fs::remove_all(folder_ / "r");
    {
      Child first(folder_,
                  run_words("r", kSteps, {"--checkpoint-every", "64 steps", "--ranks", ranks}),
                  {150'000, false});
      EXPECT_EQ(first.wait(), 1) << first.error();
      EXPECT_TRUE(holds(first.error(), "E0830")) << first.error();
      EXPECT_TRUE(holds(first.error(), "File too large")) << first.error();
    }
    if (!fs::exists(files().newest)) GTEST_SKIP() << "the limit came before the first checkpoint";
    expect_whole();
  }
}

TEST_F(Fault, FullDiskForCheckpointsDoesNotEndTheRun) {
  std::string model = text_of(folder_ / "small.vphi");
  model.erase(model.find("every 64 steps"),
              model.find("every 16 steps: var") - model.find("every 64 steps"));
  model.replace(model.find("small.h5"), 8, "other.csv");
  std::ofstream(folder_ / "small.vphi") << model;
  Child first(folder_, run_words("r", kSteps, {"--checkpoint-every", "64 steps"}), {60'000, false});
  EXPECT_EQ(first.wait(), 0) << first.error();
  EXPECT_TRUE(holds(first.error(), "no checkpoint at step 64")) << first.error();
  EXPECT_FALSE(fs::exists(files().newest));
  EXPECT_FALSE(fs::exists(files().newest.string() + ".writing")) << "half a file was left";
}

TEST_F(Fault, ReadOnlyFolder) {
  const bool root = geteuid() == 0;
  fs::create_directories(folder_ / "r");
  fs::permissions(folder_ / "r", fs::perms::owner_read | fs::perms::owner_exec |
                                     fs::perms::others_read | fs::perms::others_exec);
  fs::permissions(folder_, fs::perms::all);
  Child probe(folder_, {"--version"}, {-1, root});
  if (probe.wait() != 0) GTEST_SKIP() << "the command cannot be run by another user here";
  setenv("VPHI_CACHE", (folder_ / "cache").c_str(), 1);
  Child run(folder_, run_words("r", 64), {-1, root});
  EXPECT_EQ(run.wait(), 1) << run.error();
  EXPECT_TRUE(holds(run.error(), "E0830")) << run.error();
  EXPECT_TRUE(holds(run.error(), "ermission")) << run.error();
  fs::permissions(folder_ / "r", fs::perms::all);
}

TEST_F(Fault, DamagedCheckpoints) {
  run_with_checkpoints();
  const std::string newest = text_of(files().newest), before = text_of(files().before);
  for (const std::size_t at :
       {std::size_t{3}, std::size_t{20}, std::size_t{600}, newest.size() / 2, newest.size() - 2}) {
    std::string bad = newest;
    bad[at] = static_cast<char>(bad[at] ^ 4);
    std::ofstream(files().newest, std::ios::binary) << bad;
    std::ofstream(files().before, std::ios::binary) << before;
    const auto found = runtime::find_checkpoint(folder_ / "r", "small");
    EXPECT_EQ(found.reader->head().step, 500) << at;
    EXPECT_EQ(found.notes.size(), 1U);
  }
  std::ofstream(files().newest, std::ios::binary) << newest.substr(0, newest.size() / 3);
  std::ofstream(files().before, std::ios::binary) << before;
  expect_whole();

  std::ofstream(files().newest, std::ios::binary) << "rubbish";
  fs::remove(files().before);
  Child none(folder_, run_words("r", kSteps, {"--resume"}));
  EXPECT_EQ(none.wait(), 1);
  EXPECT_TRUE(holds(none.error(), "E0850")) << none.error();
  EXPECT_TRUE(holds(none.error(), "damaged")) << none.error();
}

TEST_F(Fault, ChangedModels) {
  run_with_checkpoints();
  const auto resume = [&](std::vector<std::string> more) {
    more.emplace_back("--resume");
    return more;
  };
  const auto refused = [&](const std::string& part, const std::vector<std::string>& more = {}) {
    Child run(folder_, run_words("r", kSteps, resume(more)));
    EXPECT_EQ(run.wait(), 1) << part;
    EXPECT_TRUE(holds(run.error(), "E0851")) << run.error();
    EXPECT_TRUE(holds(run.error(), part)) << run.error();
  };
  write_model("", "101*m");
  refused("`param g = 100*m` and is now `param g = 101*m`");
  write_model("");
  refused("`g` was", {"--set", "g=90*m"});
  refused("seed", {"--seed", "8"});
  refused("lattice", {"--lattice", "8^3"});
  // Comments, outputs, expectations, parameters that nothing of the state uses may change.
  write_model("expect a > 0   # new\nevery 32 steps: kinetic_phi = mean(phi'^2) -> \"more.h5\"\n");
  Child run(folder_, run_words("r", kSteps, resume({"--set", "unused=4"})));
  ASSERT_EQ(run.wait(), 0) << run.error();
  EXPECT_TRUE(fs::exists(folder_ / "r" / "more.h5"));
  write_model("");
  Child whole(folder_, run_words("whole", kSteps));
  ASSERT_EQ(whole.wait(), 0);
  EXPECT_TRUE(content("r") == content("whole"));
}

TEST_F(Fault, UnfinishedWorkIsNotThrownAway) {
  run_with_checkpoints();
  {
    const runtime::CheckpointReader reader(files().newest);
    runtime::CheckpointHead head = reader.head();
    head.seconds = 7200, head.finished = false;
    runtime::CheckpointWriter writer(files().newest, head, reader.run());
    for (std::size_t i = 0; i < head.arrays.size(); ++i) writer.array(reader.array(i));
    writer.finish();
  }
  Child run(folder_, run_words("r", kSteps));
  EXPECT_EQ(run.wait(), 1);
  EXPECT_TRUE(holds(run.error(), "E0852")) << run.error();
  EXPECT_TRUE(holds(run.error(), "--resume")) << run.error();
  Child fresh(folder_, run_words("r", kSteps, {"--restart"}));
  EXPECT_EQ(fresh.wait(), 0) << fresh.error();
}

TEST_F(Fault, WordsForIntervals) {
  for (const char* good : {"10min", "30s", "2h", "500 steps", "500steps", "never", "0.5 h"}) {
    Child run(folder_, run_words("r", 16, {"--checkpoint-every", good, "--quiet"}));
    EXPECT_EQ(run.wait(), 0) << good << run.error();
  }
  for (const char* bad : {"often", "-3 steps", "1.5 steps", "10", "0s", ""}) {
    if (*bad == '\0') continue;
    Child run(folder_, run_words("r", 16, {"--checkpoint-every", bad}));
    EXPECT_EQ(run.wait(), 1) << bad;
    EXPECT_TRUE(holds(run.error(), "E0810")) << bad;
  }
}

}  // namespace
}  // namespace vphi::test
