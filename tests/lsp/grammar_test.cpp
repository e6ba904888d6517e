// The editor's grammar and the fuzzers' dictionary follow the compiler's tables.
// VPHI_UPDATE_GOLDEN=1 writes them anew.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "dsl/types/type_text.hpp"
#include "dsl/types/units.hpp"
#include "dsl/words/builtins.hpp"
#include "dsl/words/clauses.hpp"
#include "tests/support/places.hpp"

namespace vphi {
namespace {

using Json = nlohmann::ordered_json;
constexpr const char* kGrammar = VPHI_SOURCE_DIR "/editors/vscode/syntaxes/vphi.tmLanguage.json";
constexpr const char* kDictionary = VPHI_SOURCE_DIR "/tests/fuzz/vphi.dict";

std::string alternatives(std::vector<std::string> words) {
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : "|") + word;
  return out;
}

Json rule(const std::string& name, const std::string& match) {
  return {{"name", name}, {"match", match}};
}

std::string grammar() {
  std::vector<std::string> keywords, functions, constants, types;
  for (const auto& clause : dsl::clause_rules())
    keywords.push_back(clause.keyword == "at end" ? "at\\s+end" : std::string(clause.keyword));
  for (const auto& b : dsl::builtins()) functions.emplace_back(b.name);
  for (const auto& c : dsl::constants()) constants.emplace_back(c.name);
  for (const std::string& type : dsl::type_names()) types.push_back(type.substr(0, type.find('(')));

  Json patterns = Json::array();
  patterns.push_back(rule("comment.line.documentation.vphi", "##.*$"));
  patterns.push_back(rule("comment.line.number-sign.vphi", "#.*$"));
  patterns.push_back(rule("string.quoted.double.vphi", "\"[^\"\\r\\n]*\""));
  patterns.push_back({{"match", "^\\s*(" + alternatives(keywords) + ")\\b(?!\\s*('|=|~|\\(|\\[))"},
                      {"captures", {{"1", {{"name", "keyword.control.clause.vphi"}}}}}});
  patterns.push_back({{"match", "^\\s*([\\p{L}_][\\p{L}\\p{N}_]*)('{0,2})(?=\\s*(=(?!=)|~))"},
                      {"captures",
                       {{"1", {{"name", "entity.name.function.vphi"}}},
                        {"2", {{"name", "keyword.operator.derivative.vphi"}}}}}});
  patterns.push_back({{"match", "(?<=[0-9])\\s*\\[([^\\]0-9][^\\]]*)\\]"},
                      {"captures", {{"1", {{"name", "support.type.unit.vphi"}}}}}});
  patterns.push_back(rule("constant.numeric.vphi",
                          "(?<![\\p{L}\\p{N}_])\\d+(\\.\\d+)?([eE][+-]?\\d+)?i?(?![\\p{L}_])"));
  patterns.push_back(
      rule("keyword.operator.word.vphi", "\\b(if|else|and|or|not|by|within|against|where)\\b"));
  patterns.push_back(rule("support.type.vphi", "(?<=:)\\s*(" + alternatives(types) + ")\\b"));
  patterns.push_back(
      rule("support.function.vphi", "\\b(" + alternatives(functions) + ")\\b(?=\\s*\\()"));
  patterns.push_back(rule("constant.language.vphi", "\\b(" + alternatives(constants) + ")\\b"));
  patterns.push_back(rule("keyword.operator.vphi", "->|\\.\\.|<=|>=|==|!=|[-+*/^<>=~@']"));
  const Json all = {{"name", "vphi"}, {"scopeName", "source.vphi"}, {"patterns", patterns}};
  return all.dump(2) + "\n";
}

/// One token a line, as libFuzzer reads them.
std::string dictionary() {
  std::vector<std::string> words = dsl::type_names();
  for (const auto& clause : dsl::clause_rules()) {
    words.emplace_back(clause.keyword);
    for (const auto& option : clause.options) {
      words.push_back(std::string(option.name) + " = ");
      for (const std::string& word : dsl::split_words(option.words)) words.push_back(word);
    }
  }
  for (const auto& b : dsl::builtins()) {
    words.push_back(std::string(b.name) + "(");
    for (const std::string& option : dsl::split_words(b.options)) words.push_back(option + " = ");
  }
  for (const auto& given : dsl::given_names()) words.emplace_back(given.name);
  for (const std::string& unit : dsl::unit_names()) words.push_back("[" + unit + "]");
  for (const std::string& system : dsl::system_names()) words.push_back(system);
  for (const char* sign : {"->",
                           "..",
                           "<=",
                           "==",
                           "!=",
                           "@",
                           "@-",
                           "'",
                           "''",
                           "~",
                           "##",
                           "2i",
                           "frw(a)",
                           " steps",
                           " if ",
                           " else ",
                           " where ",
                           " within ",
                           "noise",
                           "derived",
                           "leapfrog",
                           "iso27",
                           "Content-Length: ",
                           "\r\n\r\n"})
    words.emplace_back(sign);
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  std::string out = "# Written from the compiler's tables by lsp_grammar_test.\n";
  for (const std::string& word : words) {
    std::string escaped;
    for (const char c : word) {
      if (c == '\r' || c == '\n') {
        escaped += c == '\r' ? "\\x0d" : "\\x0a";
      } else {
        escaped += c;
      }
    }
    out += '"' + escaped + "\"\n";
  }
  return out;
}

void expect_current(const char* path, const std::string& wanted) {
  const char* update = std::getenv("VPHI_UPDATE_GOLDEN");
  if (update != nullptr && std::string(update) == "1") {
    std::ofstream(path, std::ios::binary) << wanted;
    return;
  }
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  EXPECT_EQ(text.str(), wanted) << "run this test with VPHI_UPDATE_GOLDEN=1";
}

TEST(Grammar, IsThatOfTheTables) { expect_current(kGrammar, grammar()); }
TEST(Dictionary, IsThatOfTheTables) { expect_current(kDictionary, dictionary()); }

// What the manifest names is there, and what it needs is said.
TEST(Extension, ManifestIsWhole) {
  const std::string folder = VPHI_SOURCE_DIR "/editors/vscode/";
  std::ifstream file(folder + "package.json");
  const Json manifest = Json::parse(file);
  for (const std::string& path :
       {manifest["main"].get<std::string>(),
        manifest["contributes"]["languages"][0]["configuration"].get<std::string>(),
        manifest["contributes"]["grammars"][0]["path"].get<std::string>()})
    EXPECT_TRUE(std::filesystem::exists(folder + path)) << path;
  EXPECT_TRUE(manifest["dependencies"].contains("vscode-languageclient"));
  std::ifstream language(folder + "language-configuration.json");
  EXPECT_FALSE(Json::parse(language, nullptr, false).is_discarded());
}

}  // namespace
}  // namespace vphi
