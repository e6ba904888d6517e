// Ranks that mpirun starts: the results of one process, one message where something is wrong.
#include <sys/stat.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "tests/run/command.hpp"

namespace vphi {
namespace {

constexpr const char* kWells = R"(model wells "Paths in a double well"
param gamma = 0.5
sweep T = [0.1, 0.2, 0.4]
sweep path = 1..7
var x: real
V = (x^2 - 1)^2/4
x'' = -d(V, x) - gamma*x' + sqrt(2*gamma*T)*noise
init x = -1, x' ~ sqrt(T)*normal
evolve baoab, dt = 0.02, until = t > 4
crossing = first(t, x > 0)
every 20 steps: x, mean(x^2, over = path) -> "wells.csv"
plot mean(crossing, over = path) against T
)";

class Clock {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

class Mpirun : public test::CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    if (IsSkipped()) return;
    if (std::system("mpirun --version >/dev/null 2>&1") != 0)
      GTEST_SKIP() << "there is no mpirun here: apt-get install openmpi-bin";
    write("wells.vphi", kWells);
  }

  // Open MPI makes and removes a folder of the user in TMPDIR: two at once would take it from each
  // other, so that each test has its own.
  test::Outcome mpirun(int ranks, const std::string& words,
                       const std::string& command = VPHI_BINARY_DIR "/vphi") {
    const std::string line = "cd '" + folder_.string() +
                             "' && TMPDIR=\"$PWD\" OMPI_ALLOW_RUN_AS_ROOT=1 "
                             "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout 120 "
                             "mpirun --oversubscribe -n " +
                             std::to_string(ranks) + " '" + command + "' " + words +
                             " >out.txt 2>error.txt </dev/null";
    const int raw = std::system(line.c_str());
    return {WIFEXITED(raw) ? WEXITSTATUS(raw) : -1, text("out.txt"), text("error.txt")};
  }
  /// Of box.vphi, cut as the words say.
  void expect_series_of_one(int ranks, const std::string& words) {
    const std::string run = "run box.vphi --device native --quiet --out ";
    ASSERT_EQ(vphi(run + "one").status, 0);
    const auto several = mpirun(ranks, run + "several" + words);
    ASSERT_EQ(several.status, 0) << several.error;
    EXPECT_EQ(text("one/box.series.csv"), text("several/box.series.csv"));
    EXPECT_GT(text("several/box.series.csv").size(), 100u);
  }
  static bool plug_in() { return std::filesystem::exists(VPHI_BINARY_DIR "/libvphi_mpi.so"); }
  static std::size_t count(const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
    return found;
  }
};

TEST_F(Mpirun, GivesTheFilesAndSeriesOfOneProcess) {
  if (!plug_in()) GTEST_SKIP() << "there is no libvphi_mpi.so: apt-get install libopenmpi-dev";
  const auto one = vphi("run wells.vphi --device native --json --out one");
  ASSERT_EQ(one.status, 0) << one.error;
  const auto a = nlohmann::json::parse(one.out);
  for (const int ranks : {2, 3, 4}) {
    const std::string out = "of" + std::to_string(ranks);
    const auto several = mpirun(ranks, "run wells.vphi --device native --json --out " + out);
    ASSERT_EQ(several.status, 0) << several.error;
    const auto b = nlohmann::json::parse(several.out);  // one object: the others print nothing
    EXPECT_EQ(a["series"], b["series"]);
    EXPECT_EQ(a["plots"], b["plots"]);
    EXPECT_EQ(b["ranks"].size(), static_cast<std::size_t>(ranks));
    EXPECT_EQ(text("one/wells.series.csv"), text(out + "/wells.series.csv"));
    EXPECT_GT(text(out + "/wells.series.csv").size(), 300u);
  }
}

TEST_F(Mpirun, ACheckpointOfProcessesGoesOnInOne) {
  if (!plug_in()) GTEST_SKIP() << "there is no libvphi_mpi.so: apt-get install libopenmpi-dev";
  ASSERT_EQ(vphi("run wells.vphi --device native --quiet --out whole").status, 0);
  const auto first = mpirun(
      4,
      "run wells.vphi --device native --quiet --out cut --steps 100 --checkpoint-every '50 steps'");
  ASSERT_EQ(first.status, 0) << first.error;
  const auto then = vphi("run wells.vphi --device native --quiet --resume=cut --steps 201");
  ASSERT_EQ(then.status, 0) << then.error;
  EXPECT_EQ(text("whole/wells.series.csv"), text("cut/wells.series.csv"));
  EXPECT_GT(text("cut/wells.series.csv").size(), 300u);
}

TEST_F(Mpirun, ALatticeOfProcessesHasTheBitsOfOne) {
  if (!plug_in()) GTEST_SKIP() << "there is no libvphi_mpi.so: apt-get install libopenmpi-dev";
  write("box.vphi",
        "model box \"A field in a box\"\nlattice box: 16^3, spacing = 0.5\nfield phi: real\n"
        "potential V = phi^4/4\ninit phi ~ 1 + 0.1*normal, phi' = 0\n"
        "evolve leapfrog, dt = 0.05, until = t > 2\n"
        "every 10 steps: mean(phi), var(phi) -> \"box.csv\"\n");
  expect_series_of_one(3, "");
}

TEST_F(Mpirun, ALatticeCutAlongTwoAxesHasTheBitsOfOne) {
  if (!plug_in()) GTEST_SKIP() << "there is no libvphi_mpi.so: apt-get install libopenmpi-dev";
  write("box.vphi",
        "model box \"A field in a box\"\nlattice box: 48 * 48 * 8, spacing = 0.5\n"
        "field phi: real\npotential V = phi^4/4\ninit phi ~ 1 + 0.1*normal, phi' = 0\n"
        "evolve leapfrog, dt = 0.05, until = t > 1\n"
        "every 5 steps: mean(phi), var(phi), energies -> \"box.csv\"\n");
  expect_series_of_one(4, " --cut z=2,y=2");
}

// Waves of a given power are drawn mode by mode, whatever the ranks.
TEST_F(Mpirun, WavesOfAGivenPowerHaveTheBitsOfOneProcess) {
  if (!plug_in()) GTEST_SKIP() << "there is no libvphi_mpi.so: apt-get install libopenmpi-dev";
  write(
      "waves.vphi",
      "model waves \"Waves in a box\"\nlattice box: 12^3, length = 7\nfield phi: real\n"
      "phi'' = lap(phi)\ninit phi ~ spectrum(3*k^(-1.5)*exp(-k/4)), phi' ~ spectrum(exp(-k))\n"
      "precision real = f64\nevolve leapfrog, dt = 0.05, until = t > 1\n"
      "every 10 steps: mean(phi*phi'), var(phi), spectrum(phi, bins = single) -> \"waves.csv\"\n");
  ASSERT_EQ(vphi("run waves.vphi --device native --quiet --out of1").status, 0);
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder_ / "of1"))
    if (entry.path().extension() == ".csv") names.push_back(entry.path().filename().string());
  EXPECT_GE(names.size(), 2u);
  for (const int ranks : {2, 3, 4}) {
    const std::string out = "of" + std::to_string(ranks);
    const auto several = mpirun(ranks, "run waves.vphi --device native --quiet --out " + out);
    ASSERT_EQ(several.status, 0) << several.error;
    for (const std::string& name : names) {
      EXPECT_EQ(text("of1/" + name), text(out + "/" + name)) << name << " " << ranks;
      EXPECT_GT(text("of1/" + name).size(), 100u) << name;
    }
  }
}

TEST_F(Mpirun, AFailedExpectationIsToldOnceAndIsTheStatusOfAll) {
  if (!plug_in()) GTEST_SKIP() << "there is no libvphi_mpi.so: apt-get install libopenmpi-dev";
  write("box.vphi",
        "model box \"A field in a box\"\nlattice box: 16^3, spacing = 0.5\nfield phi: real\n"
        "potential V = phi^4/4\ninit phi = 1, phi' = 0\n"
        "evolve leapfrog, dt = 0.05, until = t > 1\nevery 10 steps: mean(phi) -> \"box.csv\"\n"
        "expect mean(phi) > 3\n");
  const auto ended = mpirun(3, "run box.vphi --device native --out out");
  EXPECT_EQ(ended.status, 2) << ended.error;
  EXPECT_EQ(count(ended.out + ended.error, "expect mean(phi) > 3: FAILED"), 1u)
      << ended.out << ended.error;
}

TEST_F(Mpirun, AMistakeIsToldOnceAndIsTheStatusOfAll) {
  if (!plug_in()) GTEST_SKIP() << "there is no libvphi_mpi.so: apt-get install libopenmpi-dev";
  write("one.vphi",
        "model one \"One path\"\nvar x: real\nx' = -x\ninit x = 1\n"
        "evolve euler, dt = 0.01, until = t > 1\nevery 10 steps: x -> \"one.csv\"\n");
  for (const auto& [words, message] :
       {std::pair("run nosuch.vphi", "error[E0810]: there is no model file `nosuch.vphi`"),
        std::pair("run one.vphi --device native", "error[E0860]: 3 ranks share the instances"),
        std::pair("run wells.vphi --device native --ranks 2",
                  "--ranks 2, and 3 ranks were started")}) {
    const auto refused = mpirun(3, words);
    EXPECT_EQ(refused.status, 1) << words;
    EXPECT_EQ(count(refused.error, message), 1u) << refused.error;
  }
}

TEST_F(Mpirun, WithoutThePlugInOneSentenceSaysSo) {
  std::filesystem::create_directory(folder_ / "alone");
  std::filesystem::copy_file(VPHI_BINARY_DIR "/vphi", folder_ / "alone/vphi");
  const auto refused = mpirun(3, "run wells.vphi", (folder_ / "alone/vphi").string());
  EXPECT_EQ(refused.status, 1);
  EXPECT_EQ(count(refused.error, "error[E0861]: mpirun has started several ranks"), 1u)
      << refused.error;
  EXPECT_NE(refused.error.find("apt-get install libopenmpi-dev"), std::string::npos);
}

/// One that cannot be opened, as where the machine lacks the MPI that it was linked with.
TEST_F(Mpirun, APlugInThatCannotBeOpenedIsToldInOneSentence) {
  std::filesystem::create_directory(folder_ / "alone");
  std::filesystem::copy_file(VPHI_BINARY_DIR "/vphi", folder_ / "alone/vphi");
  write("alone/libvphi_mpi.so", "no library");
  const auto refused = mpirun(3, "run wells.vphi", (folder_ / "alone/vphi").string());
  EXPECT_EQ(refused.status, 1);
  EXPECT_EQ(count(refused.error, "error[E0861]: mpirun has started several ranks"), 1u)
      << refused.error;
  EXPECT_NE(refused.error.find("alone/libvphi_mpi.so: "), std::string::npos) << refused.error;
}

/// The first rank alone writes. What it cannot write ends all of them, with one message.
TEST_F(Mpirun, AFullDiskIsToldOnceAndEndsAllRanks) {
  if (!plug_in()) GTEST_SKIP() << "there is no libvphi_mpi.so: apt-get install libopenmpi-dev";
  write("box.vphi",
        "model box \"A field in a box\"\nlattice box: 16^3, spacing = 0.5\nfield phi: real\n"
        "potential V = phi^4/4\ninit phi ~ 1 + 0.1*normal, phi' = 0\nprecision real = f64\n"
        "evolve leapfrog, dt = 2^-10, until = step == 100000\n"
        "every 10 steps: snapshot(phi) -> \"box.h5\"\n");
  write("full.sh", "#!/bin/bash\nulimit -f 1000\nexec '" VPHI_BINARY_DIR "/vphi' \"$@\"\n");
  chmod((folder_ / "full.sh").c_str(), 0755);
  const Clock clock;
  const auto ended =
      mpirun(3, "run box.vphi --device native --quiet --out out", (folder_ / "full.sh").string());
  EXPECT_EQ(ended.status, 1) << ended.error;
  EXPECT_EQ(count(ended.error, "error[E0830]"), 1u) << ended.error;
  EXPECT_NE(ended.error.find("File too large"), std::string::npos) << ended.error;
  EXPECT_LT(clock.seconds(), 40);
}

/// A wrapper of vphi that kills rank 2 once `file` is there.
std::string killing(const std::string& file) {
  return "#!/bin/bash\n"
         "if [ \"$OMPI_COMM_WORLD_RANK\" = 2 ]; then\n"
         "  '" VPHI_BINARY_DIR
         "/vphi' \"$@\" &\n"
         "  for i in $(seq 600); do [ -s " +
         file +
         " ] && break; sleep 0.1; done\n"
         "  kill -9 $!; wait $!\n"
         "else\n"
         "  exec '" VPHI_BINARY_DIR
         "/vphi' \"$@\"\n"
         "fi\n";
}

TEST_F(Mpirun, ARankThatIsKilledEndsTheRun) {
  if (!plug_in()) GTEST_SKIP() << "there is no libvphi_mpi.so: apt-get install libopenmpi-dev";
  write("rank.sh", killing("out/run.json"));
  chmod((folder_ / "rank.sh").c_str(), 0755);
  const auto ended = mpirun(3, "run wells.vphi --device native --quiet --out out --until 't > 1e9'",
                            (folder_ / "rank.sh").string());
  EXPECT_NE(ended.status, 0);
  EXPECT_NE(ended.status, 124) << "the launcher was still waiting when the time was over";
}

/// Its neighbours wait for its planes. What the last checkpoint has is there, for any number of
/// ranks.
TEST_F(Mpirun, ALatticeGoesOnAfterARankWasKilled) {
  if (!plug_in()) GTEST_SKIP() << "there is no libvphi_mpi.so: apt-get install libopenmpi-dev";
  write("box.vphi",
        "model box \"A field in a box\"\nlattice box: 32^3, spacing = 0.5\nfield phi: real\n"
        "potential V = phi^4/4\ninit phi ~ 1 + 0.1*normal, phi' = 0\nprecision real = f64\n"
        "evolve leapfrog, dt = 2^-10, until = step == 1000000000\n"
        "every 100 steps: mean(phi), var(phi) -> \"box.csv\"\n");
  write("rank.sh", killing("out/checkpoint/box.checkpoint"));
  chmod((folder_ / "rank.sh").c_str(), 0755);
  const std::string run = "run box.vphi --device native --quiet --checkpoint-every '200 steps' ";
  const auto ended = mpirun(3, run + "--out out", (folder_ / "rank.sh").string());
  EXPECT_NE(ended.status, 0);
  EXPECT_NE(ended.status, 124) << "the launcher was still waiting when the time was over";
  const std::string steps = " --steps 4000";  // far behind what was done in a second
  const auto then = mpirun(2, run + "--out out --resume=out" + steps);
  ASSERT_EQ(then.status, 0) << then.error;
  ASSERT_EQ(vphi(run + "--out whole" + steps).status, 0);
  EXPECT_EQ(text("whole/box.series.csv"), text("out/box.series.csv"));
  EXPECT_EQ(count(text("out/box.series.csv"), "\n"), 42u);
}

}  // namespace
}  // namespace vphi
