// One folder, several runs: earlier results survive any run that is started in the folder.
#include "runtime/io/files/folder_lock.hpp"

#include "runtime/io/output_files.hpp"
#include "runtime/run/state/checkpoints.hpp"
#include "tests/faults/child.hpp"

namespace vphi::test {
namespace {

class Folder : public Faults {
 protected:
  /// A model that is done at once.
  void write_wave(const std::string& file, const std::string& name, const std::string& speed,
                  const std::string& extra = "") {
    std::ofstream(folder_ / file) << "model " << name << "\nparam s = 0, c = " << speed << R"(
lattice ring: 32, length = 1, boundary = periodic
field u: real
u'' = c^2*lap(u) + s*u^3
init u = cos(2*pi*x), u' = 0
evolve leapfrog, dt = 0.25*dx, until = t >= 1
every 16 steps: mean(u^2) -> "wave.h5"
)" << extra;
  }
  static std::vector<std::string> words(const std::vector<std::string>& more) {
    std::vector<std::string> all{"run", "--device", "native", "--no-report"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  void wait_for(Child& run, const fs::path& file) const {
    while (run.running() && !fs::exists(folder_ / file))
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  std::string bytes(const fs::path& file) const { return text_of(folder_ / file); }
};

TEST_F(Folder, ALockKeepsOthersOutUntilItsHolderIsGone) {
  for (const auto way : {io::FolderLock::Way::System, io::FolderLock::Way::Text}) {
    const fs::path place = folder_ / "locked";
    {
      const io::FolderLock mine(place, "about me", way);
      ASSERT_TRUE(mine.held());
      io::FolderLock other(place, "about you", way);
      EXPECT_FALSE(other.held());
      ASSERT_TRUE(other.other());
      EXPECT_EQ(other.other()->process, getpid());
      EXPECT_EQ(other.other()->about, "about me");
    }
    EXPECT_FALSE(fs::exists(place)) << "a folder made for the lock stays behind";
    fs::create_directories(place);
    const pid_t child = fork();
    if (child == 0) {
      const io::FolderLock dead(place, "dead", way);
      kill(getpid(), SIGKILL);
    }
    waitpid(child, nullptr, 0);
    EXPECT_TRUE(fs::exists(place / ".vphi-lock"));
    EXPECT_TRUE(io::FolderLock(place, "heir", way).held()) << "a dead process stands in the way";
    fs::remove_all(place);
  }
}

TEST_F(Folder, TwoRunsAtOnce) {
  Child first(folder_, run_words("r", 100'000'000));
  wait_for(first, "r/small.h5");
  {
    // Its own output: the first child writes to out.txt as well.
    const fs::path elsewhere = folder_ / "elsewhere";
    fs::create_directories(elsewhere);
    fs::copy(folder_ / "small.vphi", elsewhere / "small.vphi");
    Child second(elsewhere, run_words("../r", 64));
    EXPECT_EQ(second.wait(), 1);
    EXPECT_TRUE(holds(second.error(), "E0855")) << second.error();
    EXPECT_TRUE(holds(second.error(), "--out DIR")) << second.error();
    Child restart(elsewhere, run_words("../r", 64, {"--restart"}));
    EXPECT_EQ(restart.wait(), 1) << "--restart must not break into a run that goes on";
    Child resume(elsewhere, run_words("../r", 64, {"--resume"}));
    EXPECT_EQ(resume.wait(), 1);
    EXPECT_TRUE(holds(resume.error(), "E0855")) << resume.error();
  }
  ASSERT_TRUE(first.running()) << first.error();
  first.signal(SIGTERM);
  EXPECT_EQ(first.wait(), 143) << first.error();
  EXPECT_FALSE(fs::exists(folder_ / "r/.vphi-lock"));
}

TEST_F(Folder, OtherOptionsHaveAFolderOfTheirOwn) {
  write_wave("wave.vphi", "wave", "1");
  for (const char* c : {"2", "3"}) {
    Child run(folder_, words({"wave.vphi", "--set", std::string("c=") + c}));
    ASSERT_EQ(run.wait(), 0) << run.error();
  }
  Child plain(folder_, words({"wave.vphi"}));
  ASSERT_EQ(plain.wait(), 0) << plain.error();
  EXPECT_TRUE(holds(plain.error(), "results/wave-3")) << plain.error();
  const std::string two = bytes("results/wave/wave.h5"), three = bytes("results/wave-2/wave.h5");
  EXPECT_FALSE(bytes("results/wave-3/wave.h5").empty());
  EXPECT_FALSE(two == three);
  Child again(folder_, words({"wave.vphi", "--set", "c=3"}));  // finds its own again
  ASSERT_EQ(again.wait(), 0) << again.error();
  EXPECT_FALSE(fs::exists(folder_ / "results/wave-4"));
  EXPECT_TRUE(bytes("results/wave/wave.h5") == two);

  Child named(folder_, words({"wave.vphi", "--set", "c=1.5", "--out", "results/wave"}));
  EXPECT_EQ(named.wait(), 1);
  EXPECT_TRUE(holds(named.error(), "E0854")) << named.error();
  EXPECT_TRUE(holds(named.error(), "wave.vphi --set c=2")) << named.error();
  EXPECT_TRUE(bytes("results/wave/wave.h5") == two);
  Child restart(folder_,
                words({"wave.vphi", "--set", "c=1.5", "--out", "results/wave", "--restart"}));
  ASSERT_EQ(restart.wait(), 0) << restart.error();
  EXPECT_FALSE(bytes("results/wave/wave.h5") == two);
  EXPECT_FALSE(fs::exists(folder_ / "results/wave/previous-results"));
}

TEST_F(Folder, AnotherModelOfTheSameName) {
  write_wave("wave.vphi", "wave", "1");
  write_wave("copy.vphi", "wave", "1");
  Child first(folder_, words({"wave.vphi"}));
  ASSERT_EQ(first.wait(), 0) << first.error();
  Child copy(folder_, words({"copy.vphi"}));  // the same physics: the same results
  ASSERT_EQ(copy.wait(), 0) << copy.error();
  EXPECT_FALSE(fs::exists(folder_ / "results/wave-2"));
  const std::string before = bytes("results/wave/wave.h5");
  write_wave("copy.vphi", "wave", "2");
  Child other(folder_, words({"copy.vphi"}));
  ASSERT_EQ(other.wait(), 0) << other.error();
  EXPECT_TRUE(bytes("results/wave/wave.h5") == before);
  EXPECT_TRUE(fs::exists(folder_ / "results/wave-2/wave.h5"));
}

TEST_F(Folder, AFailedStartLeavesWhatWasThere) {
  write_wave("wave.vphi", "wave", "1");
  Child first(folder_, words({"wave.vphi"}));
  ASSERT_EQ(first.wait(), 0) << first.error();
  const std::string before = bytes("results/wave/wave.h5");
  const std::string report = "results/wave/report.html";
  std::ofstream(folder_ / report) << "a page";
  std::ofstream(folder_ / "results/wave/mine.txt") << "not of the run";

  write_wave("wave.vphi", "wave", "1", "every 2 steps: mean(v) -> \"wave.h5\"\n");
  Child broken(folder_, words({"wave.vphi"}));  // does not compile
  EXPECT_EQ(broken.wait(), 1);
  EXPECT_TRUE(bytes("results/wave/wave.h5") == before);

  // The first moments are written, then the steps break.
  {
    write_wave("wave.vphi", "wave", "1");
    std::string model = bytes("wave.vphi");
    model.replace(model.find("s = 0"), 5, "s = 1e3");
    std::ofstream(folder_ / "wave.vphi") << model;
  }
  Child breaks(folder_, words({"wave.vphi"}));
  EXPECT_EQ(breaks.wait(), 1) << breaks.out();
  EXPECT_TRUE(holds(breaks.error(), "results/wave/previous-results")) << breaks.error();
  EXPECT_TRUE(bytes("results/wave/previous-results/wave.h5") == before);
  EXPECT_EQ(bytes("results/wave/previous-results/report.html"), "a page");
  EXPECT_EQ(bytes("results/wave/mine.txt"), "not of the run");

  Child again(folder_, words({"wave.vphi"}));  // and once more
  EXPECT_EQ(again.wait(), 1);
  EXPECT_TRUE(bytes("results/wave/previous-results/wave.h5") == before);

  write_wave("wave.vphi", "wave", "1");
  Child good(folder_, words({"wave.vphi"}));
  ASSERT_EQ(good.wait(), 0) << good.error();
  EXPECT_FALSE(bytes("results/wave/wave.h5").empty());
  EXPECT_FALSE(fs::exists(folder_ / "results/wave/previous-results"));
  EXPECT_EQ(bytes("results/wave/mine.txt"), "not of the run");
}

TEST_F(Folder, ResultsOfNobodyAreNotReplaced) {
  write_wave("wave.vphi", "wave", "1");
  fs::create_directories(folder_ / "r");
  std::ofstream(folder_ / "r/wave.h5") << "precious";
  Child run(folder_, words({"wave.vphi", "--out", "r"}));
  EXPECT_EQ(run.wait(), 1);
  EXPECT_TRUE(holds(run.error(), "E0854")) << run.error();
  EXPECT_EQ(bytes("r/wave.h5"), "precious");
}

TEST_F(Folder, ResumeWhereThereIsSomething) {
  Child fresh(folder_, run_words("r", 64, {"--resume=auto"}));
  ASSERT_EQ(fresh.wait(), 0) << fresh.error();
  EXPECT_FALSE(holds(fresh.error(), "goes on from")) << fresh.error();
  fs::remove_all(folder_ / "r");
  {
    Child killed(folder_,
                 run_words("r", 640, {"--resume=auto", "--checkpoint-every", "100 steps"}));
    wait_for(killed, "r/checkpoint/small.checkpoint");
    killed.signal(SIGKILL);
    killed.wait();
  }
  Child on(folder_, run_words("r", 640, {"--resume=auto"}));
  ASSERT_EQ(on.wait(), 0) << on.error();
  EXPECT_TRUE(holds(on.error(), "goes on from step")) << on.error();
  Child whole(folder_, run_words("whole", 640));
  ASSERT_EQ(whole.wait(), 0);
  EXPECT_TRUE(content("r") == content("whole"));
  EXPECT_TRUE(runtime::CheckpointReader(folder_ / "r/checkpoint/small.checkpoint").head().finished)
      << "a checkpoint of the middle stays behind after the end";
}

TEST_F(Folder, AnUnfinishedRunIsNotGivenUpInSilence) {
  {
    Child stopped(folder_, run_words("r", 100'000'000));
    wait_for(stopped, "r/small.h5");
    stopped.signal(SIGTERM);
    ASSERT_EQ(stopped.wait(), 143) << stopped.error();
  }
  Child over(folder_, run_words("r", 64));
  ASSERT_EQ(over.wait(), 0) << over.error();
  EXPECT_TRUE(holds(over.error(), "an unfinished run in r is given up: step")) << over.error();
}

TEST_F(Folder, FilesOfAnOutput) {
  for (const char* name :
       {"run.h5", "run.xdmf", "run.vphi", "run.h5.bak", "runs.h5", "t.series.csv", "t.series2.csv",
        "t.csv", "t.notes.csv", "c_00000016.ildg", "c_16.ildg", "c.ildg"})
    std::ofstream(folder_ / name) << "x";
  const auto names = [&](const std::string& output) {
    std::string list;
    for (const fs::path& file : io::files_of_output(folder_, output))
      list += file.filename().string() + " ";
    return list;
  };
  EXPECT_EQ(names("run.h5"), "run.h5 run.xdmf ");
  EXPECT_EQ(names("t.csv"), "t.series.csv t.series2.csv ");
  EXPECT_EQ(names("c.ildg"), "c_00000016.ildg ");
}

TEST_F(Folder, TerminationWhileACompilerWorks) {
  // Kernels are compiled side by side, so one compiler may still begin while another is ended: each
  // run has a file of its own, and the shell makes it without a process that nobody ends.
  std::ofstream(folder_ / "slow") << "#!/bin/sh\n[ \"$1\" = --version ] && echo slow 1.0 && exit\n"
                                     ": > \"$COMPILING\"\nexec sleep 300\n";
  fs::permissions(folder_ / "slow", fs::perms::owner_all);
  setenv("VPHI_NATIVE_COMPILER", "system", 1);
  setenv("VPHI_CXX", (folder_ / "slow").c_str(), 1);
  setenv("VPHI_CACHE", (folder_ / "cache").c_str(), 1);
  for (const auto& [signal, status] : {std::pair{SIGTERM, 143}, std::pair{SIGINT, 130}}) {
    const std::string compiling = "compiling_" + std::to_string(status);
    setenv("COMPILING", (folder_ / compiling).c_str(), 1);
    Child run(folder_, run_words("r", 64));
    wait_for(run, compiling);
    ASSERT_TRUE(run.running()) << run.error();
    run.signal(signal);
    const auto asked = std::chrono::steady_clock::now();
    EXPECT_EQ(run.wait(), status) << run.error();
    EXPECT_LT(std::chrono::steady_clock::now() - asked, std::chrono::seconds(60));
    EXPECT_TRUE(holds(run.error(), "while kernels were being made")) << run.error();
  }
  unsetenv("VPHI_NATIVE_COMPILER"), unsetenv("VPHI_CXX"), unsetenv("VPHI_CACHE");
  unsetenv("COMPILING");
}

}  // namespace
}  // namespace vphi::test
