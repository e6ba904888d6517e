// Reports from the command: every run writes one, `vphi report` makes it again from the result
// files and compares runs. Skipped where the command is not built.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "runtime/io/results.hpp"
#include "runtime/report/record.hpp"
#include "tests/report/sweep_model.hpp"
#include "tests/support/places.hpp"
#include "tests/support/scratch.hpp"

namespace vphi::report {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class Verb : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(VPHI_BINARY_DIR "/vphi")) GTEST_SKIP() << "the command is not built";
  }
  int vphi(const std::string& words) {
    const std::string command = "cd '" + folder_.string() +
                                "' && VPHI_MODELS='" VPHI_SOURCE_DIR "/models' '" VPHI_BINARY_DIR
                                "/vphi' " +
                                words + " >out.txt 2>error.txt </dev/null";
    const int raw = std::system(command.c_str());
    return WIFEXITED(raw) ? WEXITSTATUS(raw) : -1;
  }
  std::string text(const std::string& name) const {
    std::ostringstream all;
    all << std::ifstream(folder_ / name).rdbuf();
    return all.str();
  }
  json data(const std::string& name) const {
    const std::string html = text(name), open = "id=\"data\">";
    const auto begin = html.find(open);
    if (begin == std::string::npos) return {};
    return json::parse(
        html.substr(begin + open.size(), html.find("</script>", begin) - begin - open.size()));
  }
  const testing::ScratchFolder scratch_;
  const fs::path& folder_ = scratch_.path();
};

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

constexpr const char* kRun =
    "run preheating --device native --lattice '16^3' --steps 1024 --quiet --seed 3 ";

TEST_F(Verb, EveryRunLeavesAPage) {
  ASSERT_EQ(vphi(std::string(kRun) + "--set 'g=50*m' --out here"), 0) << text("error.txt");
  const std::string html = text("here/report.html");
  EXPECT_LT(html.size(), 5'000'000U);
  const json page = data("here/report.html");
  EXPECT_GE(page["series"].size(), 12U);
  ASSERT_EQ(page["checks"].size(), 1U);
  if (io::have_hdf5()) {
    EXPECT_GE(page["tables"].size(), 2U);
    EXPECT_EQ(page["pictures"].size(), 1U);
    EXPECT_TRUE(page["pictures"][0]["xn"].get<std::string>().starts_with("x"));
    EXPECT_TRUE(page["pictures"][0]["yn"].get<std::string>().starts_with("y"));
  }
  const json& r = page["record"];
  const std::string command = r["command"];
  EXPECT_TRUE(holds(command, "--set 'g=50*m'")) << command;
  EXPECT_TRUE(holds(command, "--seed 3")) << command;
  EXPECT_TRUE(holds(command, "--device native")) << command;
  EXPECT_FALSE(holds(command, "--out")) << command;
  EXPECT_GE(r["statements"].size(), 5U);
  EXPECT_GE(r["equations"].size(), 3U);
  EXPECT_GE(r["citations"].size(), 4U);
  for (const json& p : r["parameters"]) EXPECT_EQ(p["changed"].get<bool>(), p["name"] == "g");
  bool timed = false;
  for (const json& k : r["kernels"]) timed = timed || k["seconds"].get<double>() > 0;
  EXPECT_TRUE(timed);
  // the equations as MathML, the source with its lines
  EXPECT_TRUE(holds(html, "<msup><mi>φ</mi><mo>′′</mo></msup>"));
  EXPECT_TRUE(holds(html, "id=\"line-12\""));
}

TEST_F(Verb, NoReportLeavesNone) {
  ASSERT_EQ(vphi("run wave --device native --steps 64 --quiet --no-report --out here"), 0);
  EXPECT_FALSE(fs::exists(folder_ / "here/report.html"));
}

// A sweep with an ensemble: curves with error bars along the axis, a histogram for each of its
// values, as densities over the middles of the bins.
TEST_F(Verb, ASweepShowsErrorsAndItsHistograms) {
  if (!io::have_hdf5()) GTEST_SKIP() << "this build has no HDF5";
  std::ofstream(folder_ / "bars.vphi") << test::kSweep;
  ASSERT_EQ(vphi("run bars.vphi --device native --quiet --out here"), 0) << text("error.txt");
  const json page = data("here/report.html");
  int with_errors = 0;
  for (const json& s : page["series"])
    for (const json& curve : s["curves"]) with_errors += curve.contains("e");
  EXPECT_GE(with_errors, 2);
  ASSERT_EQ(page["tables"].size(), 3U);
  const char* names[] = {"histogram(x) at T = 0.2", "histogram(x) at T = 0.5",
                         "histogram(x) at T = 0.9"};
  for (std::size_t i = 0; i < 3; ++i) {
    const json& table = page["tables"][i];
    EXPECT_EQ(table["name"], names[i]);
    EXPECT_EQ(table["kind"], "histogram");
    EXPECT_EQ(table["yn"], "density");
    EXPECT_GE(table["frames"].size(), 2U);
  }
}

// In two dimensions a slice and a snapshot are the whole lattice: a picture; in one a curve.
TEST_F(Verb, WholeFieldsOfOneAndTwoDimensionsAreShown) {
  if (!io::have_hdf5()) GTEST_SKIP() << "this build has no HDF5";
  const auto model = [&](const std::string& name, const std::string& shape) {
    std::ofstream(folder_ / (name + ".vphi"))
        << "model " << name << "\nlattice box: " << shape << ", length = 8\nfield u: real\n"
        << "u' = lap(u) + u - u^3\ninit u ~ 0.1*normal\n"
        << "evolve rk4, dt = 0.005, until = t > 1\n"
        << "every 50 steps: mean(u^2), slice(u), snapshot(u^2) -> \"u.h5\"\n";
    EXPECT_EQ(vphi("run " + name + ".vphi --device native --quiet --out " + name), 0)
        << text("error.txt");
    return data(name + "/report.html");
  };
  const json sheet = model("sheet", "32*24");
  ASSERT_EQ(sheet["pictures"].size(), 2U);
  EXPECT_EQ(sheet["tables"].size(), 0U);
  for (const json& picture : sheet["pictures"]) {
    EXPECT_GE(picture["frames"].size(), 4U);
    EXPECT_EQ(picture["frames"][0]["w"], 32);
    EXPECT_EQ(picture["frames"][0]["h"], 24);
    EXPECT_TRUE(picture["xn"].get<std::string>().starts_with("x"));
    EXPECT_TRUE(picture["yn"].get<std::string>().starts_with("y"));
  }
  const json line = model("line", "32");
  EXPECT_EQ(line["pictures"].size(), 0U);
  ASSERT_EQ(line["tables"].size(), 2U);
  for (const json& table : line["tables"]) EXPECT_GE(table["frames"].size(), 4U);
}

// Each check of a promise says what it is of, and a profile stands against its own axis.
TEST_F(Verb, ChecksAndProfilesHaveNamesOfTheirOwn) {
  if (!io::have_hdf5()) GTEST_SKIP() << "this build has no HDF5";
  std::ofstream(folder_ / "sheet.vphi")
      << "model sheet\nlattice box: 12*16, length = 8\nfield u: complex\nfield w: real\n"
      << "u' = lap(u)\nw' = lap(w)\ninit u = exp(-r^2)*(1 + 1i), w = exp(-r^2)\n"
      << "evolve rk4, dt = 0.01, until = t > 0.5\n"
      << "every 10 steps: mean(w), profile(w, along = y) -> \"sheet.h5\"\n"
      << "expect conserved(u, w) within 1e-9\n";
  ASSERT_EQ(vphi("run sheet.vphi --device native --quiet --out here"), 0) << text("error.txt");
  const json page = data("here/report.html");
  ASSERT_EQ(page["checks"].size(), 3U);
  const char* names[] = {"conserved(re(u)) within 1e-9", "conserved(im(u)) within 1e-9",
                         "conserved(w) within 1e-9"};
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(page["checks"][i]["text"], names[i]);
  ASSERT_EQ(page["tables"].size(), 1U);
  EXPECT_TRUE(page["tables"][0]["xn"].get<std::string>().starts_with("y"));
}

// Along two axes of a sweep a result is one picture, though the run and its file both hold it.
TEST_F(Verb, AResultAlongTwoAxesIsOnePicture) {
  std::ofstream(folder_ / "grid.vphi")
      << "model grid\nsweep a = [1, 2, 3]\nsweep b = [1, 2]\nvar x: real\nx'' = -a*b*x\n"
      << "init x = 1, x' = 0\nevolve rk4, dt = 0.05, until = t > 1\n"
      << "every 10 steps: x -> \"grid.h5\"\n";
  ASSERT_EQ(vphi("run grid.vphi --device native --quiet --out here"), 0) << text("error.txt");
  const json page = data("here/report.html");
  ASSERT_EQ(page["pictures"].size(), 1U);
  EXPECT_EQ(page["pictures"][0]["xn"], "b");
  ASSERT_EQ(page["series"].size(), 1U);
  ASSERT_EQ(page["series"][0]["curves"].size(), 6U);
  EXPECT_EQ(page["series"][0]["curves"][5]["name"], "a = 3, b = 2");
}

// A Markov chain has sweeps; it has no steps and no time.
TEST_F(Verb, AChainIsShownAgainstItsSweeps) {
  std::ofstream(folder_ / "links.vphi")
      << "model links\nparam beta = 2\nlattice grid: 8^2\ngauge U: U(1)\n"
      << "P[mu,nu] = loop(mu, nu, -mu, -nu)\nplaquette = mean(re(P[mu,nu]), mu < nu)\n"
      << "action S = beta*sum(1 - re(P[mu,nu]), mu < nu)\nsample heatbath, sweeps = 40\n"
      << "init U ~ hot\nevery 4 sweeps: plaquette -> \"links.h5\"\n";
  ASSERT_EQ(vphi("run links.vphi --device native --quiet --out here"), 0) << text("error.txt");
  const json page = data("here/report.html");
  EXPECT_EQ(page["time"], "sweep");
  EXPECT_EQ(page["series"][0]["along"], "sweep");
  EXPECT_TRUE(holds(text("here/report.html"), "<dt>Sweeps</dt><dd>40</dd>"));
}

// Whatever bytes of a result file are wrong: a page or a message, never a crash.
TEST_F(Verb, DamagedResultFilesAreSaidToBe) {
  if (!io::have_hdf5()) GTEST_SKIP() << "this build has no HDF5";
  ASSERT_EQ(vphi("run wave --device native --steps 512 --quiet --out here"), 0);
  const std::string whole = text("here/wave.h5");
  for (const std::size_t stride : {97U, 977U, 4099U}) {
    std::string bytes = whole;
    for (std::size_t i = 2100; i < bytes.size(); i += stride)
      bytes[i] = static_cast<char>(bytes[i] ^ 0x5a);
    std::ofstream(folder_ / "bad.h5", std::ios::binary) << bytes;
    const int status = vphi("report bad.h5 -o bad.html");
    EXPECT_TRUE(status == 0 || status == 1) << stride << ": " << status << text("error.txt");
    if (status == 1) {
      EXPECT_TRUE(holds(text("error.txt"), "error[E0830]")) << text("error.txt");
    }
  }
}

TEST_F(Verb, TheCommandOfAPageRepeatsIt) {
  ASSERT_EQ(vphi(std::string(kRun) + "--out a"), 0) << text("error.txt");
  const std::string command = data("a/report.html")["record"]["command"];
  ASSERT_TRUE(command.starts_with("vphi run "));
  ASSERT_EQ(vphi(command.substr(5) + " --quiet --out b"), 0) << text("error.txt");
  const json a = data("a/report.html"), b = data("b/report.html");
  EXPECT_EQ(a["arrays"], b["arrays"]);
  EXPECT_EQ(b["record"]["command"], command);
}

TEST_F(Verb, ReportsAreMadeAgainAndCompared) {
  if (!io::have_hdf5()) GTEST_SKIP() << "this build has no HDF5";
  ASSERT_EQ(vphi(std::string(kRun) + "--out a"), 0) << text("error.txt");
  ASSERT_EQ(vphi(std::string(kRun) + "--set 'g=50*m' --out b"), 0) << text("error.txt");
  const json before = data("a/report.html");
  ASSERT_EQ(vphi("report a"), 0) << text("error.txt");
  const json after = data("a/report.html");
  EXPECT_EQ(after["record"], before["record"]);
  EXPECT_EQ(after["series"].size(), before["series"].size());
  EXPECT_EQ(after["tables"].size(), before["tables"].size());

  // without its page a run still has its numbers and its formulas
  fs::remove(folder_ / "a/report.html");
  ASSERT_EQ(vphi("report a"), 0) << text("error.txt");
  const json bare = data("a/report.html");
  EXPECT_EQ(bare["series"].size(), before["series"].size());
  EXPECT_EQ(bare["record"]["statements"], before["record"]["statements"]);

  ASSERT_EQ(vphi("report a b"), 0) << text("error.txt");
  const std::string html = text("comparison.html");
  const auto differences = html.substr(html.find("id=\"differences\""), 2000);
  EXPECT_TRUE(holds(differences, "<td>g</td>"));
  EXPECT_FALSE(holds(differences, "<td>m</td>"));
  const json compared = data("comparison.html");
  for (const json& s : compared.at("series")) EXPECT_EQ(s["curves"].size(), 2U);
}

TEST_F(Verb, MistakesAreSaid) {
  EXPECT_EQ(vphi("report nowhere"), 1);
  EXPECT_TRUE(holds(text("error.txt"), "there is no run"));
  fs::create_directories(folder_ / "empty");
  EXPECT_EQ(vphi("report empty"), 1);
  EXPECT_TRUE(holds(text("error.txt"), "holds no results"));
  std::ofstream(folder_ / "broken.h5") << "no HDF5 at all";
  EXPECT_EQ(vphi("report broken.h5"), 1);
  EXPECT_TRUE(holds(text("error.txt"), "broken.h5"));
}

TEST_F(Verb, CsvIsReadToo) {
  std::ofstream(folder_ / "wave.series.csv") << "step,t,a,\"b,c\"\n0,0,1,2\n10,0.5,3,4\n20,1,5";
  std::ofstream(folder_ / "wave.spectra.csv")
      << "name,step,t,k,P,Delta,modes\nu,0,0,0,1,0,1\nu,0,0,1,2,3,6\nu,10,0.5,1,4,5,6\n";
  ASSERT_EQ(vphi("report . -o page.html"), 0) << text("error.txt");
  const json page = data("page.html");
  ASSERT_EQ(page["series"].size(), 2U);
  EXPECT_EQ(page["series"][1]["name"], "b,c");
  ASSERT_EQ(page["tables"].size(), 1U);
  EXPECT_EQ(page["tables"][0]["frames"].size(), 2U);
}

}  // namespace
}  // namespace vphi::report
