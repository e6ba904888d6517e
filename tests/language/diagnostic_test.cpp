// Positions, order, count and the two renderings of diagnostics.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tree_text.hpp"

namespace vphi::dsl {
namespace {

Span span_of(const Source& source, std::string_view piece) {
  const auto at = source.text().find(piece);
  EXPECT_NE(at, std::string_view::npos) << piece;
  return {static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(at + piece.size()),
          source.file()};
}

Diagnostic unknown_name(Span at) {
  Diagnostic d;
  d.code = "E0104";
  d.message = "unknown name `gama`";
  d.span = at;
  d.under = "did you mean `gamma` (param, line 3)?";
  return d;
}

const char* kJosephson =
    "model josephson \"Noisy Josephson junction\"\n"
    "# a comment\n"
    "param gamma = 0.9\n"
    "var x: real\n"
    "V = sin(2*pi*x)\n"
    "\n"
    "x'' = -gama*x' - d(V, x)\n";

// The complete text of an error, as docs/rules.md describes it under Messages.
TEST(Render, TheExampleOfTheLanguage) {
  const Source source("josephson.vphi", kJosephson);
  Diagnostics all;
  all.add(unknown_name(span_of(source, "gama*")));
  Diagnostic d = all.all()[0];
  d.span.end -= 1;
  Diagnostics one;
  one.add(d);
  EXPECT_EQ(render_text(one, {&source}),
            "error[E0104]: unknown name `gama`\n"
            "  --> josephson.vphi:7:8\n"
            "   |\n"
            " 7 | x'' = -gama*x' - d(V, x)\n"
            "   |        ^^^^ did you mean `gamma` (param, line 3)?\n");
}

TEST(Render, LabelsRuleAndHint) {
  const Source source("josephson.vphi", kJosephson);
  Diagnostic d = unknown_name(span_of(source, "gama"));
  d.labels.push_back({span_of(source, "gamma"), "declared here"});
  d.rule = "names are declared";
  d.hint = "write `gamma`\nor declare `gama`";
  Diagnostics all;
  all.add(d);
  EXPECT_EQ(render_text(all, {&source}),
            "error[E0104]: unknown name `gama`\n"
            "  --> josephson.vphi:7:8\n"
            "   |\n"
            " 3 | param gamma = 0.9\n"
            "   |       ----- declared here\n"
            "  ...\n"
            " 7 | x'' = -gama*x' - d(V, x)\n"
            "   |        ^^^^ did you mean `gamma` (param, line 3)?\n"
            "   = names are declared\n"
            "   = write `gamma`\n"
            "   = or declare `gama`\n");
}

TEST(Render, LabelInAnotherFile) {
  const Source model("m.vphi", "laplacian = iso27\n", 0);
  const Source library("stencils.vphi", "\n\nstencil iso27(u) = u\n", 1);
  Diagnostic d;
  d.code = "N0101";
  d.severity = Severity::Note;
  d.message = "shadows the library";
  d.span = span_of(model, "laplacian");
  d.labels.push_back({span_of(library, "iso27(u)"), "the library's"});
  Diagnostics all;
  all.add(d);
  EXPECT_EQ(render_text(all, {&model, &library}),
            "note[N0101]: shadows the library\n"
            "  --> m.vphi:1:1\n"
            "   |\n"
            " 1 | laplacian = iso27\n"
            "   | ^^^^^^^^^\n"
            "  ::: stencils.vphi:3:9\n"
            "   |\n"
            " 3 | stencil iso27(u) = u\n"
            "   |         -------- the library's\n");
}

TEST(Render, WithoutAPlace) {
  Diagnostic d;
  d.code = "E0801";
  d.message = "no device";
  d.hint = "run `vphi doctor`";
  Diagnostics all;
  all.add(d);
  EXPECT_EQ(render_text(all, {}), "error[E0801]: no device\n   = run `vphi doctor`\n");
}

TEST(Render, GutterGrowsWithTheLineNumber) {
  std::string text;
  for (int i = 1; i < 120; ++i) text += "a\n";
  const Source source("long.vphi", text + "bad\n");
  Diagnostic d;
  d.code = "E0001";
  d.message = "m";
  d.span = span_of(source, "bad");
  d.hint = "h";
  Diagnostics all;
  all.add(d);
  EXPECT_EQ(render_text(all, {&source}),
            "error[E0001]: m\n    --> long.vphi:120:1\n     |\n 120 | bad\n     | ^^^\n     = h\n");
}

TEST(Render, NothingReachesTheTerminalAsAControl) {
  const Source source("a\x1b[31m.vphi", "x = \"\x1b[31m\xE2\x80\xAE\"\n");
  Diagnostic d;
  d.message = "name `\x1b[0m`";
  d.span = span_of(source, "x");
  Diagnostics all;
  all.add(d);
  for (const char c : render_text(all, {&source})) EXPECT_NE(c, '\x1b');
}

TEST(Render, ColourOnlyWhenAsked) {
  const Source source("josephson.vphi", kJosephson);
  Diagnostics all;
  all.add(unknown_name(span_of(source, "gama")));
  EXPECT_EQ(render_text(all, {&source}).find('\x1b'), std::string::npos);
  RenderOptions options;
  options.colour = true;
  EXPECT_NE(render_text(all, {&source}, options).find('\x1b'), std::string::npos);
}

TEST(Diagnostics, TextOrderOnceEachAndACount) {
  const Source source("a.vphi", std::string(100, 'x'));
  Diagnostics all;
  for (const std::uint32_t begin : {50u, 10u, 30u, 10u, 20u, 60u, 70u}) {
    Diagnostic d;
    d.code = "E0104";
    d.message = "at " + std::to_string(begin);
    d.span = {begin, begin + 1, 0};
    all.add(d);
  }
  EXPECT_EQ(all.errors(), 6);  // one was said twice
  ASSERT_EQ(all.all().size(), 6u);
  for (std::size_t i = 1; i < 6; ++i) {
    EXPECT_LT(all.all()[i - 1].span.begin, all.all()[i].span.begin);
  }
  const std::string shown = render_text(all, {&source});
  EXPECT_EQ(shown.find("at 70"), std::string::npos);
  EXPECT_NE(shown.find("\nand 1 more error\n"), std::string::npos);
  RenderOptions options;
  options.limit = 6;
  EXPECT_NE(render_text(all, {&source}, options).find("at 70"), std::string::npos);
}

TEST(Diagnostics, WarningsAreNoErrors) {
  Diagnostic d;
  d.severity = Severity::Warning;
  d.message = "w";
  Diagnostics all;
  all.add(d);
  EXPECT_FALSE(all.has_errors());
  EXPECT_EQ(all.all().size(), 1u);
}

TEST(Json, FieldsAndPlaces) {
  const Source source("josephson.vphi", kJosephson);
  Diagnostic d = unknown_name(span_of(source, "gama"));
  d.hint = "write `gamma`";
  Diagnostics all;
  all.add(d);
  const auto json = nlohmann::json::parse(render_json(all, {&source}));
  ASSERT_EQ(json.size(), 1u);
  EXPECT_EQ(json[0]["code"], "E0104");
  EXPECT_EQ(json[0]["severity"], "error");
  EXPECT_EQ(json[0]["message"], "unknown name `gama`");
  EXPECT_EQ(json[0]["file"], "josephson.vphi");
  EXPECT_EQ(json[0]["line"], 7);
  EXPECT_EQ(json[0]["column"], 8);
  EXPECT_EQ(json[0]["end_column"], 12);
  EXPECT_EQ(json[0]["hint"], "write `gamma`");
  Diagnostics none;
  EXPECT_EQ(nlohmann::json::parse(render_json(none, {})), nlohmann::json::array());
}

TEST(Json, BrokenBytesDoNotBreakIt) {
  Diagnostic d;
  d.message = "name `\xFF\xC3`";
  Diagnostics all;
  all.add(d);
  EXPECT_NO_THROW(nlohmann::json::parse(render_json(all, {})));
}

TEST(Text, PositionsCountCodePoints) {
  const Source source("a",
                      "ab\r\n\xCF\x86"
                      "c\n\rend");
  const auto at = [&](std::string_view piece) {
    return source.position(span_of(source, piece).begin);
  };
  EXPECT_EQ(at("b").column, 2);
  EXPECT_EQ(at("c").line, 2);
  EXPECT_EQ(at("c").column, 2);
  EXPECT_EQ(at("end").line, 4);
  EXPECT_EQ(source.line_count(), 4);
  EXPECT_EQ(source.line(1), "ab");
  EXPECT_EQ(source.line(2),
            "\xCF\x86"
            "c");
  EXPECT_EQ(source.line(3), "");
  EXPECT_EQ(source.line(4), "end");
  EXPECT_EQ(source.line(5), "");
  EXPECT_EQ(source.at({100, 200, 0}), "");
  EXPECT_EQ(cover({3, 5, 0}, {1, 4, 0}), (Span{1, 5, 0}));
}

}  // namespace
}  // namespace vphi::dsl
