// A model's own lines in MathML: the notation of each construct, and that all of it is well-formed.
#include "compiler/typeset.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>

#include "dsl/syntax/load.hpp"
#include "dsl/syntax/parse.hpp"
#include "tests/support/places.hpp"

namespace vphi {
namespace {

std::string mathml(const std::string& text) {
  dsl::Diagnostics diagnostics;
  const auto source = std::make_shared<dsl::Source>("test", text);
  const auto e = dsl::parse_expression(source, diagnostics);
  EXPECT_TRUE(e) << text;
  return e ? typeset(*e) : "";
}

/// Tags open and close in order, and no bare `<` or `&` is left.
::testing::AssertionResult well_formed(const std::string& text) {
  std::vector<std::string> open;
  for (std::size_t at = text.find('<'); at != std::string::npos; at = text.find('<', at + 1)) {
    const std::size_t end = text.find('>', at);
    if (end == std::string::npos) return ::testing::AssertionFailure() << "open tag: " << text;
    std::string tag = text.substr(at + 1, end - at - 1);
    if (tag.ends_with('/')) continue;
    if (tag.starts_with('/')) {
      if (open.empty() || open.back() != tag.substr(1))
        return ::testing::AssertionFailure() << tag << " in " << text;
      open.pop_back();
      continue;
    }
    open.push_back(tag.substr(0, tag.find(' ')));
  }
  if (!open.empty()) return ::testing::AssertionFailure() << open.back() << " stays open: " << text;
  return ::testing::AssertionSuccess();
}

TEST(Typeset, Notation) {
  const std::pair<const char*, const char*> rows[] = {
      {"x", "<mrow><mi>x</mi></mrow>"},
      {"phi0", "<mrow><msub><mi>φ</mi><mn>0</mn></msub></mrow>"},
      {"a/b", "<mrow><mfrac><mrow><mi>a</mi></mrow><mrow><mi>b</mi></mrow></mfrac></mrow>"},
      {"5e-6",
       "<mrow><mrow><mn>5</mn><mo>·</mo><msup><mn>10</mn><mrow><mo>−</mo><mn>6</mn></mrow>"
       "</msup></mrow></mrow>"},
      {"sqrt(2)", "<mrow><msqrt><mn>2</mn></msqrt></mrow>"},
      {"mean(x)", "<mrow><mrow><mo>⟨</mo><mi>x</mi><mo>⟩</mo></mrow></mrow>"},
      {"x''", "<mrow><msup><mi>x</mi><mo>′′</mo></msup></mrow>"},
      {"d(V, x)",
       "<mrow><mfrac><mrow><mo>∂</mo><mi>V</mi></mrow><mrow><mo>∂</mo><mi>x</mi></mrow>"
       "</mfrac></mrow>"},
      {"x <= 1", "<mrow><mrow><mi>x</mi><mo>≤</mo><mn>1</mn></mrow></mrow>"},
  };
  for (const auto& [text, expected] : rows) EXPECT_EQ(mathml(text), expected) << text;
}

TEST(Typeset, ParenthesesAreThoseOfTheMeaning) {
  const auto parentheses = [](const std::string& text) {
    std::size_t n = 0;
    const std::string m = mathml(text);
    for (auto at = m.find("<mo>(</mo>"); at != std::string::npos; at = m.find("<mo>(</mo>", at + 1))
      ++n;
    return n;
  };
  const std::pair<const char*, std::size_t> rows[] = {
      {"a*(b + c)", 1}, {"a*(b*c)", 0},      {"(a + b)^2", 1},   {"a^(b + c)", 0},
      {"(a + b)/c", 0}, {"a - (b - c)", 1},  {"a - (b + c)", 1}, {"-(a + b)", 1},
      {"-a*b", 0},      {"(a/b)^2", 1},      {"(-a)^2", 1},      {"lap(a + b)", 1},
      {"2*(3*x)", 0},   {"(a < b) and c", 0}};
  for (const auto& [text, expected] : rows) EXPECT_EQ(parentheses(text), expected) << text;
}

TEST(Typeset, EveryShippedModelIsWellFormed) {
  int models = 0, lines = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(VPHI_SOURCE_DIR "/models")) {
    if (entry.path().extension() != ".vphi") continue;
    dsl::Diagnostics diagnostics;
    const auto model = dsl::load_model(entry.path().string(), diagnostics);
    ++models;
    for (const TypesetLine& line : typeset_model(model)) {
      EXPECT_TRUE(well_formed(line.mathml)) << entry.path();
      EXPECT_GT(line.line, 0);
      EXPECT_FALSE(line.text.empty());
      ++lines;
    }
    for (const TypesetParameter& p : typeset_parameters(model)) {
      EXPECT_TRUE(well_formed(p.mathml)) << entry.path();
      EXPECT_FALSE(p.written.empty());
    }
  }
  EXPECT_GE(models, 20);
  EXPECT_GE(lines, 100);
}

TEST(Typeset, LinesOfAModel) {
  dsl::Diagnostics diagnostics;
  const auto model = dsl::load_model(VPHI_SOURCE_DIR "/models/teaching/wave.vphi", diagnostics);
  EXPECT_NE(model_documentation(model).find("dispersion relation"), std::string::npos);
  const auto parameters = typeset_parameters(model);
  ASSERT_EQ(parameters.size(), 2U);
  EXPECT_EQ(parameters[1].name, "n");
  EXPECT_EQ(parameters[1].written, "3");
  bool equation = false;
  for (const TypesetLine& line : typeset_model(model))
    equation = equation || line.text == "u'' = lap(u)";
  EXPECT_TRUE(equation);
}

TEST(Typeset, TextIsEscaped) {
  const std::string m = mathml("table(\"<b>&x\", y)");
  EXPECT_NE(m.find("&lt;b&gt;&amp;x"), std::string::npos);
  EXPECT_EQ(m.find("<b>"), std::string::npos);
}

}  // namespace
}  // namespace vphi
