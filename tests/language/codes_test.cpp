// Every code that the sources can print has a page, and a test model whose message shows it.
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>

#include "tests/support/places.hpp"
#include "tree_text.hpp"

namespace vphi {
namespace {

namespace fs = std::filesystem;

std::set<std::string> codes_in(const fs::path& folder, const std::set<std::string>& endings,
                               const std::regex& pattern) {
  std::set<std::string> codes;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!endings.contains(entry.path().extension().string())) continue;
    const std::string text = test::read_file(entry.path());
    for (std::sregex_iterator it(text.begin(), text.end(), pattern), end; it != end; ++it)
      codes.insert((*it)[1]);
  }
  return codes;
}

std::set<std::string> used() {
  std::set<std::string> codes;
  const std::regex quoted("\"([EWN][0-9]{4})\"");
  for (const char* folder : {"dsl", "compiler", "program", "runtime", "tools", "lsp"})
    codes.merge(codes_in(fs::path(VPHI_SOURCE_DIR) / folder, {".cpp", ".hpp"}, quoted));
  return codes;
}

/// Codes without a golden model, and why none can show them.
const std::map<std::string, std::string>& exceptions() {
  static const std::string kFirst = "the front end says it first; kept for what it cannot see";
  static const std::string kRun = "happens while a model runs: tests/run, tests/robustness";
  static const std::string kCommand = "of the command line: tests/run/command_test.cpp";
  static const std::string kLarge = "needs a text too large to keep: tests/language, made there";
  static const std::string kTables = "reads a file beside the model, which no golden has";
  static const std::map<std::string, std::string> kExceptions = {
      {"E0100", "a file that is not there: names_test, Load"},
      {"E0109", kLarge},
      {"E0235", kLarge},
      {"E0502", kLarge},
      {"E0304", kFirst},
      {"E0310", kFirst},
      {"E0710", kFirst},
      {"E0711", kFirst},
      {"E0712", kFirst},
      {"E0713", kFirst},
      {"E0715", kFirst},
      {"E0721", kFirst},
      {"E0722", kFirst},
      {"E0724", kFirst},
      {"E0728", kFirst},
      {"E0729", kFirst},
      {"E0730", kFirst},
      {"E0732", kFirst},
      {"E0733", kFirst},
      {"E0741", kFirst},
      {"E0751", kFirst},
      {"E0750", "no equations are known that reach it: updates of a group in a circle"},
      {"E0759", "an internal check: no model may show it"},
      {"E0768", kTables},
      {"E0782", kTables},
      {"E0871", kTables},
      {"E0783", kTables},
      {"E0784", kTables},
      {"W0781", kTables},
      {"W0799", kCommand},
      {"E0810", kCommand},
      {"E0840", "a program file: tests/run/json_test.cpp"},
      {"E0843", kCommand},
      {"E0999", "an internal error: no model may show it"},
  };
  return kExceptions;
}

bool excused(const std::string& code) {
  // E08xx: devices, files and runs, which no model text alone brings about.
  return exceptions().contains(code) || code.starts_with("E08") || code.starts_with("W08") ||
         code.starts_with("N08");
}

TEST(Codes, EachHasAPage) {
  const auto pages = codes_in(VPHI_SOURCE_DIR "/docs", {".md"}, std::regex("\n## ([EWN][0-9]{4})"));
  const auto all = used();
  for (const std::string& code : all) EXPECT_TRUE(pages.contains(code)) << code;
  for (const std::string& code : pages)
    EXPECT_TRUE(all.contains(code) || excused(code)) << code << ": nothing prints it";
}

TEST(Codes, EachPageIsTheOnlyOneOfItsCode) {
  std::map<std::string, int> pages;
  const std::regex heading("\n## ([EWN][0-9]{4})");
  for (const auto& entry : fs::directory_iterator(VPHI_SOURCE_DIR "/docs")) {
    if (entry.path().extension() != ".md") continue;
    const std::string text = test::read_file(entry.path());
    for (std::sregex_iterator it(text.begin(), text.end(), heading), end; it != end; ++it)
      ++pages[(*it)[1]];
  }
  EXPECT_GE(pages.size(), 140u);
  for (const auto& [code, count] : pages) EXPECT_EQ(count, 1) << code;
}

TEST(Codes, EachHasAModelThatShowsIt) {
  const auto shown =
      codes_in(VPHI_SOURCE_DIR "/tests/language", {".txt"}, std::regex("\\[([EWN][0-9]{4})\\]"));
  for (const std::string& code : used()) {
    EXPECT_TRUE(shown.contains(code) || excused(code))
        << code << ": add a model and its message to tests/language (bad, bad_physics, "
        << "bad_compile, syntax or warnings)";
  }
  EXPECT_GE(shown.size(), 140u);
}

TEST(Codes, ThereAreManyBadModels) {
  std::size_t count = 0;
  for (const auto& path : test::vphi_files(VPHI_SOURCE_DIR "/tests/language")) {
    auto golden = path;
    golden.replace_extension(".txt");
    EXPECT_TRUE(fs::exists(golden)) << path << " has no message beside it";
    ++count;
  }
  EXPECT_GE(count, 150u);
}

}  // namespace
}  // namespace vphi
