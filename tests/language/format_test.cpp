// The canonical style: table, idempotence and equal trees on every text that is shipped.
#include <gtest/gtest.h>

#include "tests/support/places.hpp"
#include "tree_text.hpp"

namespace vphi::dsl {
namespace {

using test::source;
using test::tree;

std::string formatted(const std::string& text, Spelling spelling = Spelling::Keep) {
  Diagnostics diagnostics;
  const auto from = source(text);
  const ModelText model = parse(from, diagnostics);
  EXPECT_FALSE(diagnostics.has_errors()) << render_text(diagnostics, {from.get()});
  return format(model, spelling);
}

std::string model_tree(const std::string& text) {
  Diagnostics diagnostics;
  const auto from = source(text);
  return tree(parse(from, diagnostics));
}

TEST(Format, Style) {
  const std::pair<const char*, const char*> rows[] = {
      {"param   m=1,g = 2", "param m = 1, g = 2\n"},
      {"a=b*c+d ^ 2", "a = b*c + d^2\n"},
      {"lattice box : 24^3*48 , length=10/m", "lattice box: 24^3 * 48, length = 10/m\n"},
      {"x[ i ]'=noise [i]", "x[i]' = noise[i]\n"},
      {"\n\n\na = 1\n\n\n\nb = 2\n\n", "a = 1\n\nb = 2\n"},
      {"a = 1 # one\nbcd = 2     # two", "a = 1    # one\nbcd = 2  # two\n"},
      {"recover {\nu = 1\n   # c\n  }", "recover {\n  u = 1\n  # c\n}\n"},
      {"##doc\na = 1", "## doc\na = 1\n"},
      {"a = 1 ## doc", "a = 1  ## doc\n"},
      {"a = (b*c)/d", "a = (b*c)/d\n"},
      {"a = ((b))", "a = (b)\n"},
      {"evolve rk4,dt=5[fm]", "evolve rk4, dt = 5 [fm]\n"},
      {"a = directions( + , - )", "a = directions(+,-)\n"},
      {"at   end :x->\"f\"", "at end: x -> \"f\"\n"},
      {"scheme kt(U' = -d(F(U), k), speed, theta = 1.8) {\n}",
       "scheme kt(U' = -d(F(U), k), speed, theta = 1.8) {\n}\n"},
      {"# only a comment", "# only a comment\n"},
      {"", ""},
  };
  for (const auto& [text, expected] : rows) EXPECT_EQ(formatted(text), expected) << text;
}

// Lines that were broken by hand stay broken there, what stands in columns stays in them, and
// comments keep the column that they share.
TEST(Format, KeepsLinesAndColumns) {
  const char* stay[] = {
      "action S = beta*(c0*sum(P, mu < nu)\n                 + c1*sum(R, mu != nu))\n",
      "every 5 steps: mean(phi), var(phi)\n    -> \"a.h5\"\n",
      "param m      = 1\nparam lambda = 2\n",
      "metric  frw(a)\nfield   phi: real\nrescale A = 1, B = 2\n",
      "recover {\n  u   = 1\n  eps = 2\n}\n",
      "a = 1           # one\nbc = 2          # two\n",
      "a = 1           # alone\n",
  };
  for (const char* text : stay) EXPECT_EQ(formatted(text), text);
  const std::pair<const char*, const char*> rows[] = {
      // blanks without a column are none that anyone wants
      {"a    = 1\nb = 2\n", "a = 1\nb = 2\n"},
      // a column survives a body that is indented anew, not one that nobody stands in any more
      {"recover {\n    u   = 1\n    eps = 2\n}\n", "recover {\n  u   = 1\n  eps = 2\n}\n"},
      {"a =   b\nlong=b\n", "a = b\nlong = b\n"},
      // comments in different columns are brought into one
      {"a = 1       # one\nb = 2  # two\n", "a = 1  # one\nb = 2  # two\n"},
  };
  for (const auto& [text, expected] : rows) EXPECT_EQ(formatted(text), expected) << text;
}

TEST(Format, LongLinesBreakOutermostFirst) {
  std::string text = "a = ";
  for (int i = 0; i < 30; ++i) text += (i ? " + " : "") + std::string("f(x, y)*term");
  const std::string out = formatted(text + "\nb = 1\n");
  EXPECT_EQ(model_tree(out), model_tree(text + "\nb = 1\n"));
  EXPECT_EQ(formatted(out), out);
  std::istringstream lines(out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
}

TEST(Format, SpellingsAreOneModel) {
  const std::string ascii = "field phi, chi: real\npotential V = phi^2*chi^2/2\nF = d(V, phi)\n";
  const std::string unicode = formatted(ascii, Spelling::Unicode);
  EXPECT_NE(unicode.find("\xCF\x86"), std::string::npos);
  EXPECT_NE(unicode.find("\xE2\x88\x82(V, \xCF\x86)"), std::string::npos);
  EXPECT_EQ(formatted(unicode, Spelling::Ascii), ascii);
  EXPECT_EQ(formatted(unicode), unicode);
  EXPECT_EQ(model_tree(unicode), model_tree(ascii));
}

class Shipped : public ::testing::TestWithParam<std::filesystem::path> {};

TEST_P(Shipped, ParsesWithoutAMessage) {
  Diagnostics diagnostics;
  const auto from = source(test::read_file(GetParam()), GetParam().filename());
  const ModelText model = parse(from, diagnostics);
  EXPECT_TRUE(diagnostics.all().empty()) << render_text(diagnostics, {from.get()});
  EXPECT_FALSE(model.lines.empty());
}

TEST_P(Shipped, FormatsToTheSameTreeAndStays) {
  const std::string text = test::read_file(GetParam());
  for (const Spelling spelling : {Spelling::Keep, Spelling::Ascii, Spelling::Unicode}) {
    const std::string once = formatted(text, spelling);
    EXPECT_EQ(model_tree(once), model_tree(text));
    EXPECT_EQ(formatted(once, spelling), once);
  }
  std::istringstream lines(formatted(text));
  for (std::string line; std::getline(lines, line);) {
    if (line.find('#') != std::string::npos) continue;
    EXPECT_LE(line.size(), 100u) << line;
  }
}

// What is shipped is in the style that `vphi fmt` writes, and `vphi fmt` leaves it alone.
TEST_P(Shipped, IsInStyle) {
  const std::string text = test::read_file(GetParam());
  EXPECT_EQ(formatted(text), text) << "vphi fmt " << GetParam().string();
}

TEST(Format, StartersAreInStyle) {
  for (const auto& path : test::vphi_files(VPHI_SOURCE_DIR "/tools/starters")) {
    const std::string text = test::read_file(path);
    EXPECT_EQ(formatted(text), text) << path;
  }
}

// A model is at most 25 lines that say physics or numerics.
TEST_P(Shipped, IsShort) {
  if (GetParam().parent_path().filename() == "std") return;
  std::istringstream lines(test::read_file(GetParam()));
  int code = 0;
  for (std::string line; std::getline(lines, line);) {
    const auto first = line.find_first_not_of(" \t");
    if (first != std::string::npos && line[first] != '#') ++code;
  }
  EXPECT_LE(code, 30);  // a gas with a table, its recovery and three checks takes as many
}

INSTANTIATE_TEST_SUITE_P(Models, Shipped,
                         ::testing::ValuesIn(test::vphi_files(VPHI_SOURCE_DIR "/models")),
                         [](const auto& info) {
                           const auto& path = info.param;
                           return path.parent_path().filename().string() + "_" +
                                  path.stem().string();
                         });

}  // namespace
}  // namespace vphi::dsl
