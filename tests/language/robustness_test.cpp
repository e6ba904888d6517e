// Any bytes as a model give a message within a second, never a crash.
#include <gtest/gtest.h>

#include <ctime>
#include <random>

#include "tests/support/patience.hpp"
#include "tests/support/places.hpp"
#include "tree_text.hpp"

namespace vphi::dsl {
namespace {

using test::source;

struct Outcome {
  ModelText model;
  Diagnostics diagnostics;
  double seconds = 0;  ///< of this process, so a busy machine does not matter
};

// Parses, prints what came of it, renders every message; the caller says what must be true.
Outcome read(const std::string& text) {
  Outcome out;
  const std::clock_t begin = std::clock();
  const auto from = source(text);
  out.model = parse(from, out.diagnostics);
  const std::string printed = format(out.model);
  const std::string shown = render_text(out.diagnostics, {from.get()});
  const std::string json = render_json(out.diagnostics, {from.get()});
  out.seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  EXPECT_EQ(shown.empty(), out.diagnostics.all().empty());
  EXPECT_FALSE(json.empty());
  // Messages are lines of bounded length without control characters.
  std::istringstream lines(shown);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), 600u) << line.substr(0, 200);
    for (const char c : line) EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20 || c == '\t');
  }
  // What could be read is still a model: it prints to a text that reads without a message.
  Diagnostics again;
  const auto second = source(printed);
  const ModelText same = parse(second, again);
  EXPECT_FALSE(again.has_errors()) << render_text(again, {second.get()}) << "\nfrom\n" << printed;
  EXPECT_EQ(format(same), printed);
  return out;
}

void expect_message(const std::string& text, const char* code) {
  const Outcome out = read(text);
  EXPECT_LT(out.seconds, 1.0 * kPatience) << code;
  ASSERT_FALSE(out.diagnostics.all().empty()) << code;
  bool found = false;
  for (const Diagnostic& d : out.diagnostics.all()) found = found || d.code == code;
  EXPECT_TRUE(found) << "expected " << code << ", found " << out.diagnostics.all()[0].code << ": "
                     << out.diagnostics.all()[0].message;
}

std::string repeated(const std::string& piece, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += piece;
  return out;
}

TEST(Robustness, EveryPrefixOfEveryModel) {
  for (const auto& path : test::vphi_files(VPHI_SOURCE_DIR "/models")) {
    const std::string text = test::read_file(path);
    const std::size_t step = path.parent_path().filename() == "std" ? 7 : 1;
    for (std::size_t n = 0; n < text.size(); n += step) {
      const Outcome out = read(text.substr(0, n));
      if (::testing::Test::HasFailure()) FAIL() << path << " cut at " << n;
      (void)out;
    }
  }
}

TEST(Robustness, RandomBytesInModels) {
  const auto paths = test::vphi_files(VPHI_SOURCE_DIR "/models");
  std::mt19937 random(20240131);
  for (int round = 0; round < 2000; ++round) {
    std::string text = test::read_file(paths[random() % paths.size()]);
    const int flips = 1 + static_cast<int>(random() % 8);
    for (int i = 0; i < flips; ++i) {
      const std::size_t at = random() % text.size();
      const std::string signs = "()[]{}'\",:=~@+-*/^<>. \n\tx1#;\x80\xCF";
      if (random() % 4 == 0) {
        text[at] = static_cast<char>(random() % 256);
      } else if (random() % 2 == 0) {
        text[at] = signs[random() % signs.size()];
      } else {
        text.erase(at, 1 + random() % 20);
        if (text.empty()) text = "x";
      }
    }
    read(text);
    if (HasFailure()) FAIL() << "round " << round << "\n" << text;
  }
}

TEST(Robustness, RandomTokens) {
  const char* pieces[] = {
      "x",     "y'",    "(",      ")",       "[",     "]",     "{",      "}",      "\n", ",",
      ":",     "=",     "~",      "->",      "..",    "@",     "-",      "+",      "*",  "^",
      "if",    "else",  "not",    "and",     "where", "by",    "within", "5",      "2i", "\"s\"",
      "steps", "every", "at end", "model a", "param", "field", "# c\n",  "## d\n", "<",  "=="};
  std::mt19937 random(7);
  for (int round = 0; round < 4000; ++round) {
    std::string text;
    const int length = 1 + static_cast<int>(random() % 40);
    for (int i = 0; i < length; ++i) {
      text += pieces[random() % std::size(pieces)];
      if (random() % 3) text += " ";
    }
    read(text);
    if (HasFailure()) FAIL() << "round " << round << "\n" << text;
  }
}

TEST(Robustness, DeepNesting) {
  const std::size_t deep = 100000;
  expect_message("a = " + repeated("(", deep) + "1" + repeated(")", deep), "E0525");
  expect_message("a = " + repeated("(", deep), "E0510");
  expect_message("a = " + repeated("[", deep) + "1" + repeated("]", deep), "E0525");
  expect_message("a = " + repeated("f(", deep) + "1" + repeated(")", deep), "E0525");
  expect_message("a = " + repeated("-", deep) + "1", "E0525");
  expect_message("a = " + repeated("not ", deep) + "1", "E0525");
  expect_message("a = " + repeated("2^", deep) + "1", "E0525");
  expect_message("a = " + repeated("1 if 1 else ", deep / 2) + "1", "E0525");
  expect_message("a = " + repeated("1+", deep) + "1", "E0526");
  expect_message("a = x" + repeated("@k", deep), "E0526");
  expect_message("a = x" + repeated("[1]", deep), "E0526");
  expect_message(repeated("recover {\n", 300) + repeated("}\n", 300), "E0525");
  expect_message(repeated("recover {\n", deep / 2), "E0525");
  expect_message(repeated("}\n", deep), "E0514");
}

TEST(Robustness, NestingUpToTheLimitIsRead) {
  for (const std::size_t deep : {100u, 199u, 200u}) {
    Diagnostics diagnostics;
    const auto from = source("a = " + repeated("f(", deep) + "1" + repeated(")", deep));
    parse(from, diagnostics);
    EXPECT_FALSE(diagnostics.has_errors()) << deep;
  }
  Diagnostics diagnostics;
  parse(source("a = " + repeated("1 + ", 900) + "1"), diagnostics);
  EXPECT_FALSE(diagnostics.has_errors());
}

TEST(Robustness, LongInput) {
  const std::size_t million = 1000000;
  expect_message("a = " + repeated("x ", million / 2), "E0522");
  expect_message("a = " + std::string(million, 'x') + " y z", "E0522");
  expect_message("a = " + std::string(million, '1') + "(", "E0510");
  expect_message("a = \"" + std::string(million, 'x'), "E0506");
  expect_message(std::string(million, ';'), "E0505");
  expect_message(std::string(million, '('), "E0510");
  expect_message(std::string(million, '\''), "E0516");
  expect_message(repeated("a b c\n", million / 6), "E0522");
  expect_message(repeated("a = 1 1\n", million / 8), "E0521");
  expect_message(std::string(2 * million, 'x'), "E0502");
  expect_message("a = " + repeated("\xCF\x86", million / 4) + " b", "E0522");
  const Outcome good = read("a = f(" + repeated("x, ", million / 3) + "x)");
  EXPECT_FALSE(good.diagnostics.has_errors());
  EXPECT_LT(good.seconds, 2.0 * kPatience);
  const Outcome many = read(repeated("a = 1\n", million / 6));
  EXPECT_LT(many.seconds, 2.0 * kPatience);
  EXPECT_EQ(many.model.lines.size(), million / 6);
}

TEST(Robustness, Binary) {
  expect_message(std::string("model a\n\0\0\0", 11), "E0501");
  expect_message(
      "\x7F"
      "ELF\x02\x01\x01",
      "E0501");
  expect_message("a = \"\xFF\"", "E0501");
  expect_message("# \xC3\x28\n", "E0501");
  expect_message("\x1F\x8B\x08", "E0501");
  std::mt19937 random(1);
  std::string noise(100000, '\0');
  for (char& c : noise) c = static_cast<char>(random() % 256);
  expect_message(noise, "E0501");
  const Outcome out = read(noise);
  EXPECT_LE(out.diagnostics.errors(), 60);
}

TEST(Robustness, ExpressionsOfTheCommandLine) {
  std::mt19937 random(3);
  const char* pieces[] = {"x", "(", ")",  "[", "]",  "{", "}", "\n",   ",",     "=", "..",
                          "@", "-", "if", "5", "\"", "'", ";", "\x80", "frw.H", "."};
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    for (int i = static_cast<int>(random() % 12); i > 0; --i) {
      text += pieces[random() % std::size(pieces)];
    }
    Diagnostics diagnostics;
    const auto from = source(text);
    const ExprPtr value = parse_expression(from, diagnostics);
    EXPECT_EQ(value == nullptr, diagnostics.has_errors()) << text;
  }
}

}  // namespace
}  // namespace vphi::dsl
