// The page in a headless browser: figures and formulas are shown, without errors in the console and
// without requests to the network. Skipped where there is no Chromium.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "runtime/report/page.hpp"
#include "tests/report/sample.hpp"
#include "tests/report/sweep_model.hpp"
#include "tests/support/places.hpp"
#include "tests/support/scratch.hpp"

namespace vphi::report {
namespace {

namespace fs = std::filesystem;

std::string contents(const fs::path& path) {
  std::ostringstream all;
  all << std::ifstream(path).rdbuf();
  return all.str();
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

class Browser : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"chromium", "chromium-browser", "google-chrome", "headless_shell"})
      if (std::system((std::string("command -v ") + name + " >/dev/null 2>&1").c_str()) == 0) {
        browser_ = name;
        break;
      }
    if (browser_.empty()) GTEST_SKIP() << "no Chromium here: apt-get install chromium";
  }

  /// The document after the script has run; #all draws what nobody has scrolled to as well.
  std::string open(const std::string& html, int width) {
    std::ofstream(folder_ / "report.html") << html;
    const std::string at = folder_.string();
    const std::string command =
        "timeout 280 " + browser_ + " --headless --no-sandbox --disable-gpu --no-first-run " +
        "--disable-background-networking --disable-component-update --disable-sync " +
        "--user-data-dir='" + at + "/profile' --window-size=" + std::to_string(width) + ",16000 " +
        "--virtual-time-budget=4000 --enable-logging=stderr --log-net-log='" + at +
        "/net.json' --dump-dom 'file://" + at + "/report.html#all' >'" + at + "/dom.html' 2>'" +
        at + "/log.txt' </dev/null";
    const int raw = std::system(command.c_str());
    EXPECT_EQ(WIFEXITED(raw) ? WEXITSTATUS(raw) : -1, 0) << contents(folder_ / "log.txt");
    return contents(folder_ / "dom.html");
  }

  void expect_quiet() {
    std::istringstream log(contents(folder_ / "log.txt"));
    for (std::string line; std::getline(log, line);)
      EXPECT_EQ(line.find("CONSOLE"), std::string::npos) << line;
  }

  /// Requests that the page, a local file, has made.
  void expect_no_requests() {
    const std::string text = contents(folder_ / "net.json");
    EXPECT_GT(text.size(), 100U) << "the browser kept no record of its requests";
    std::istringstream log(text);
    for (std::string line; std::getline(log, line);) {
      const bool of_page = line.find("\"initiator\":\"file") != std::string::npos ||
                           line.find("\"initiator\":\"null") != std::string::npos;
      EXPECT_FALSE(of_page && line.find("\"url\":\"http") != std::string::npos) << line;
    }
  }

  std::string browser_;
  const testing::ScratchFolder scratch_;
  const fs::path& folder_ = scratch_.path();
};

TEST_F(Browser, DrawsEveryFigure) {
  const std::string html = page(test::sample());
  for (const int width : {1280, 390}) {
    const std::string dom = open(html, width);
    EXPECT_NE(dom.find("data-ready=\"yes\""), std::string::npos) << "the script did not end";
    const std::size_t figures =
        count(dom, "<figure class=");  // not the word in a comment of the script
    EXPECT_EQ(count(dom, "data-done=\"yes\""), figures);
    EXPECT_GE(figures, 10U);
    EXPECT_GE(count(dom, "<path class=\"curve"), 8U);
    EXPECT_GE(count(dom, "<canvas"), 2U);  // the picture and its colour bar
    EXPECT_EQ(count(dom, "data-points=\"0\""), 0U) << "an empty plot";
    EXPECT_GE(count(dom, "data-points="), 8U);
    EXPECT_EQ(count(dom, "<math "), 3U);
    expect_quiet();
    expect_no_requests();
  }
}

// The page of a real sweep, at a desk and on a phone: nothing is wider than the window, and what is
// an average has its error bars.
TEST_F(Browser, DrawsTheErrorBarsOfAnEnsemble) {
  if (!fs::exists(VPHI_BINARY_DIR "/vphi")) GTEST_SKIP() << "the command is not built";
  std::ofstream(folder_ / "bars.vphi") << test::kSweep;
  const std::string run = "cd '" + folder_.string() +
                          "' && '" VPHI_BINARY_DIR
                          "/vphi' run bars.vphi --device native --quiet --out r >/dev/null 2>&1";
  ASSERT_EQ(std::system(run.c_str()), 0);
  const std::string html = contents(folder_ / "r/report.html");
  ASSERT_FALSE(html.empty());
  for (const int width : {1280, 390}) {
    const std::string dom = open(html, width);
    EXPECT_NE(dom.find("data-ready=\"yes\""), std::string::npos);
    EXPECT_GE(count(dom, "<path class=\"bars\""), 2U);
    EXPECT_EQ(count(dom, "data-points=\"0\""), 0U) << "an empty plot";
    for (const char* value : {"T = 0.2", "T = 0.5", "T = 0.9"})
      EXPECT_GE(count(dom, std::string("</span>") + value + "</button>"), 1U) << "a chip's label";
    expect_quiet();
    expect_no_requests();
  }
}

TEST_F(Browser, RunsNothingOfAModelsText) {
  const std::string attack =
      "</script><img src=x onerror=document.title='owned'>\"'><script>"
      "document.title='owned'</script>";
  const std::string dom = open(page(test::sample(attack)), 1280);
  EXPECT_NE(dom.find("data-ready=\"yes\""), std::string::npos);
  EXPECT_EQ(count(dom, "<img"), 0U);
  EXPECT_EQ(dom.find("<title>owned"), std::string::npos);
  expect_quiet();
}

TEST_F(Browser, ComparesRuns) {
  auto a = test::sample("a"), b = test::sample("a");
  a.name = "first", b.name = "second";
  const std::string dom = open(comparison(std::vector{a, b}), 1280);
  EXPECT_NE(dom.find("data-ready=\"yes\""), std::string::npos);
  EXPECT_GE(count(dom, "<path class=\"curve"), 8U);
  expect_quiet();
}

}  // namespace
}  // namespace vphi::report
