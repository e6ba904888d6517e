// The server's answers on a model, on broken text and to rubbish.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>

#include "dsl/words/clauses.hpp"
#include "session.hpp"
#include "tests/support/patience.hpp"
#include "tests/support/places.hpp"

namespace vphi::lsp {
namespace {

using test::Session;

// Line numbers from 0, as editors count.
constexpr const char* kModel =
    "model m \"A model\"\n"              // 0
    "param mass = 2  ## of the field\n"  // 1
    "param \xCF\x86"
    "0 = 3*mass\n"                                          // 2
    "lattice box: 16^2, length = 8, boundary = periodic\n"  // 3
    "field phi: real\n"                                     // 4
    "potential V = mass^2*phi^2/2\n"                        // 5
    "Q(u) = u^2 + mass\n"                                   // 6
    "init phi = \xCF\x86"
    "0*cos(x), phi' = 0\n"                                   // 7
    "evolve leapfrog, dt = 0.1*dx, until = t > 1\n"          // 8
    "every 10 steps: mean(Q(phi)), energies -> \"m.h5\"\n";  // 9

bool has(const std::vector<std::string>& all, const std::string& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}
bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class Lsp : public ::testing::Test {
 protected:
  void SetUp() override { session_.start(); }
  Session session_;
};

TEST_F(Lsp, InitializeNamesWhatItCan) {
  const Json answer = session_.result("initialize", Json::object());
  const Json& can = answer["capabilities"];
  for (const char* what : {"hoverProvider", "definitionProvider", "documentSymbolProvider",
                           "documentFormattingProvider", "referencesProvider"})
    EXPECT_EQ(can[what], true) << what;
  EXPECT_EQ(can["positionEncoding"], "utf-16");
  EXPECT_EQ(can["textDocumentSync"]["change"], 2);
}

TEST_F(Lsp, ASoundModelHasNoDiagnostics) {
  session_.open(kModel);
  EXPECT_EQ(session_.diagnostics(), Json::array());
}

TEST_F(Lsp, DiagnosticsHaveCodeLinkRangeAndTheOtherPlace) {
  session_.open("model m\nparam phi = 1\nfield \xCF\x86: real\n");
  Json first;
  for (const Json& d : session_.diagnostics())
    if (d["code"] == "E0101") first = d;
  ASSERT_TRUE(first.is_object());
  EXPECT_EQ(first["severity"], 1);
  EXPECT_EQ(first["range"],
            Json::parse(R"({"start":{"line":2,"character":6},"end":{"line":2,"character":7}})"));
  const std::string link = first["codeDescription"]["href"];
  EXPECT_TRUE(link.starts_with("file:///texts/pages/errors_language.md#e0101-")) << link;
  ASSERT_FALSE(first["relatedInformation"].empty());
  EXPECT_EQ(first["relatedInformation"][0]["location"]["uri"], "file:///m.vphi");
  EXPECT_EQ(first["relatedInformation"][0]["location"]["range"]["start"]["line"], 1);
}

// What only the derivation finds comes from the second thread.
TEST_F(Lsp, StabilityIsChecked) {
  std::string text = kModel;
  text.replace(text.find("0.1*dx"), 6, "9.0*dx");
  session_.open(text);
  const Json all = session_.diagnostics();
  ASSERT_EQ(all.size(), 1u) << all.dump(1);
  EXPECT_EQ(all[0]["code"], "E0301");
  EXPECT_EQ(all[0]["range"]["start"]["line"], 8);
}

TEST_F(Lsp, WhatIsNotThereYetIsInformation) {
  session_.open(
      "model m\nlattice line: 8\nfield phi: real\n"
      "action S = phi^2 + sum((1 + index(x))*(phi@i - phi)^2, i)\n"
      "sample hmc, trajectories = 4, tau = 1 { level S: steps = 12, scheme = omelyan2 }\n"
      "init phi ~ normal\nevery 1 trajectory: a = mean(phi^2) -> \"o.csv\"\n");
  int notes = 0;
  for (const Json& d : session_.diagnostics()) {
    if (d["code"] != "E0901") continue;
    ++notes;
    EXPECT_EQ(d["severity"], 3);
  }
  EXPECT_GT(notes, 0);
}

TEST_F(Lsp, ChangesArePiecewiseOrWhole) {
  session_.open(kModel);
  const auto change = [&](Json changes, int version) {
    session_.notify("textDocument/didChange",
                    {{"textDocument", {{"uri", "file:///m.vphi"}, {"version", version}}},
                     {"contentChanges", std::move(changes)}});
  };
  const auto span = [](int line, int from, int to) {
    return Json{{"start", {{"line", line}, {"character", from}}},
                {"end", {{"line", line}, {"character", to}}}};
  };
  // `phi0` in Unicode counts two units: the second edit sees the text of the first.
  change(
      {{{"range", span(7, 11, 13)}, {"text", "mas"}}, {{"range", span(7, 14, 14)}, {"text", "z"}}},
      2);
  Json all = session_.diagnostics();
  ASSERT_EQ(all.size(), 1u) << all.dump(1);
  EXPECT_EQ(all[0]["code"], "E0104");
  EXPECT_EQ(all[0]["range"], span(7, 11, 15));
  change({{{"range", span(7, 14, 15)}, {"text", "s"}}}, 3);
  all = session_.diagnostics();
  ASSERT_EQ(all.size(), 1u) << all.dump(1);
  EXPECT_EQ(all[0]["code"], "W0102");  // nothing names phi0 any more
  change({{{"text", "model other\nx = ((\n"}}}, 4);
  EXPECT_FALSE(session_.diagnostics().empty());
  // Ranges behind the end, backwards or absurd do no harm.
  change(
      {{{"range",
         {{"start", {{"line", 99}, {"character", 9}}}, {"end", {{"line", 0}, {"character", 0}}}}},
        {"text", kModel}}},
      5);
  EXPECT_EQ(session_.diagnostics(), Json::array());
}

TEST_F(Lsp, HoverTellsWhatANameIs) {
  session_.open(kModel);
  session_.diagnostics();
  const std::string mass = session_.hover_text(5, 15);
  EXPECT_TRUE(holds(mass, "of the field")) << mass;
  EXPECT_TRUE(holds(mass, "param")) << mass;
  EXPECT_TRUE(holds(mass, "value 2")) << mass;
  EXPECT_TRUE(holds(session_.hover_text(7, 11), "value 6"));  // phi0 = 3*mass
  const std::string field = session_.hover_text(4, 7);
  EXPECT_TRUE(holds(field, "field, real")) << field;
  EXPECT_TRUE(holds(field, "phi'' = ")) << field;
  EXPECT_TRUE(holds(field, "program units")) << field;
  EXPECT_TRUE(holds(session_.hover_text(8, 9), "Kick, drift, kick"));       // from the library
  EXPECT_TRUE(holds(session_.hover_text(8, 0), "evolve leapfrog"));         // keyword: usage
  EXPECT_TRUE(holds(session_.hover_text(8, 17), "step of physical time"));  // option dt
  EXPECT_TRUE(holds(session_.hover_text(8, 26), "spacing"));                // dx of the lattice
  EXPECT_TRUE(holds(session_.hover_text(7, 15), "cosine"));
  EXPECT_TRUE(holds(session_.hover_text(6, 7), "this line alone"));
  EXPECT_TRUE(session_.hover(0, 10).is_null());  // a string
  EXPECT_EQ(session_.hover(5, 15)["range"]["start"]["character"], 14);
}

TEST_F(Lsp, HoverOfAValueWithAUnit) {
  session_.open(
      "model m\nlattice b: 8, length = 4 [fm]\nparam T = 0.2 [GeV]\nfield u: real\n"
      "u'' = lap(u) - T^2*u\ninit u = 1, u' = 0\nevolve leapfrog, dt = 0.1*dx\n");
  const std::string text = session_.hover_text(2, 6);
  EXPECT_TRUE(holds(text, "[GeV]")) << text;
  EXPECT_TRUE(holds(text, "value 1.0135")) << text;  // 0.2 GeV / (hbar c) in 1/fm
}

TEST_F(Lsp, DefinitionLeadsToTheModelAndTheLibrary) {
  session_.open(kModel);
  const auto go = [&](int line, int character) {
    return session_.result("textDocument/definition", Session::at(line, character));
  };
  EXPECT_EQ(go(5, 15)["range"]["start"], (Json{{"line", 1}, {"character", 6}}));
  EXPECT_EQ(go(6, 7)["range"]["start"], (Json{{"line", 6}, {"character", 2}}));  // parameter u
  EXPECT_EQ(go(9, 22)["range"]["start"], (Json{{"line", 6}, {"character", 0}}));
  EXPECT_EQ(go(8, 26)["range"]["start"]["line"], 3);  // dx: the lattice gives it
  const Json library = go(8, 9);
  EXPECT_EQ(library["uri"], "file:///texts/std/integrators.vphi");
  const int line = library["range"]["start"]["line"];
  std::istringstream text(test::read_file(VPHI_SOURCE_DIR "/models/std/integrators.vphi"));
  std::string found;
  for (int i = 0; i <= line; ++i) std::getline(text, found);
  EXPECT_TRUE(found.starts_with("integrator leapfrog")) << found;
  EXPECT_TRUE(go(7, 15).is_null());  // cos has no text
}

TEST_F(Lsp, CompletionKnowsThePlace) {
  const struct {
    const char* text;  ///< `|` is the cursor; appended to the model
    std::vector<const char*> wanted, unwanted;
  } rows[] = {
      {"|", {"expect", "at end", "param", "phi"}, {"sin", "solve", "lattice", "dt"}},
      {"ex|", {"expect"}, {"sin"}},
      {"random philox, |", {"seed"}, {"dt", "phi"}},
      {"precision real = |", {"f32", "f64"}, {"phi"}},
      {"precision real = f32, |", {"sum", "store"}, {"real"}},
      {"precision real = f32, sum = ka|", {"kahan"}, {"phi"}},
      {"laplacian = |", {"iso9", "star2"}, {"leapfrog", "phi"}},
      {"field chi: |", {"real", "complex", "vec(3)"}, {"phi"}},
      {"E = 5 [|", {"GeV", "fm"}, {"phi"}},
      {"E = mass*|", {"phi", "mass", "sqrt", "pi", "dx"}, {"leapfrog", "spectrum"}},
      {"E = sin(|", {"phi", "mass"}, {"leapfrog"}},
      {"init chi ~ |", {"normal", "uniform", "vacuum"}, {}},
      {"at end: |", {"spectrum", "slice", "phi"}, {"drift", "leapfrog"}},
      {"at end: histogram(phi, |", {"bins", "low"}, {}},
      {"expect |", {"drift", "conserved", "mean"}, {"slice"}},
      {"init |", {"phi"}, {"sqrt"}},
      {"E = mass # phi|", {}, {"phi", "mass"}},
      {"at end: phi -> \"|", {}, {"phi"}},
      {"recover {\n  |", {"solve"}, {"param"}},
      {"E = (mass +\n  |", {"phi", "sqrt"}, {"param"}},
      {"metric |", {"frw(a)"}, {"phi"}},
      {"param new = |", {"mass"}, {}},
      {"units |", {"reduced_planck"}, {"phi"}},
  };
  for (const auto& row : rows) {
    std::string text = std::string(kModel) + row.text;
    const auto cursor = text.find('|');
    text.erase(cursor, 1);
    session_.open(text);
    const LineIndex lines(text);
    const Place place = lines.place(static_cast<std::uint32_t>(cursor));
    const auto found =
        session_.complete(static_cast<int>(place.line), static_cast<int>(place.character));
    for (const char* word : row.wanted) EXPECT_TRUE(has(found, word)) << row.text << ": " << word;
    for (const char* word : row.unwanted)
      EXPECT_FALSE(has(found, word)) << row.text << ": " << word;
  }
  session_.open("model m\n|");
  EXPECT_TRUE(has(session_.complete(1, 0), "lattice"));
  session_.open("evolve lea");
  EXPECT_TRUE(has(session_.complete(0, 10), "leapfrog"));
  EXPECT_FALSE(has(session_.complete(0, 10), "iso27"));
}

// Every clause of the table is offered, and each of its options behind a comma.
TEST_F(Lsp, CompletionOffersEveryClauseAndOption) {
  session_.open("");
  const auto keywords = session_.complete(0, 0);
  for (const dsl::ClauseRule& rule : dsl::clause_rules()) {
    EXPECT_FALSE(dsl::clause_doc(rule.keyword).empty()) << rule.keyword;
    const bool offered = has(keywords, std::string(rule.keyword));
    EXPECT_EQ(offered, rule.inside.empty()) << rule.keyword;
    if (!rule.inside.empty() || rule.heads == dsl::Heads::Declares) continue;
    const std::string text = std::string(rule.keyword) + " one, ";
    session_.open(text);
    const auto options = session_.complete(0, static_cast<int>(text.size()));
    for (const dsl::OptionRule& option : rule.options) {
      EXPECT_TRUE(has(options, std::string(option.name))) << rule.keyword << " " << option.name;
      EXPECT_FALSE(option.doc.empty()) << option.name;
    }
  }
}

TEST_F(Lsp, OutlineReferencesAndRename) {
  session_.open(kModel);
  const Json outline = session_.result("textDocument/documentSymbol",
                                       {{"textDocument", {{"uri", "file:///m.vphi"}}}});
  std::vector<std::string> names;
  for (const Json& symbol : outline) names.push_back(symbol["name"]);
  EXPECT_EQ(names, (std::vector<std::string>{"mass", "phi0", "phi", "V", "Q"}));

  const Json places = session_.result("textDocument/references", Session::at(1, 6));
  EXPECT_EQ(places.size(), 4u) << places.dump(1);  // param, phi0, V, Q
  const auto rename = [&](int line, int character, const char* name) {
    Json params = Session::at(line, character);
    params["newName"] = name;
    return session_.request("textDocument/rename", params);
  };
  EXPECT_EQ(rename(1, 6, "M")["result"]["changes"]["file:///m.vphi"].size(), 4u);
  EXPECT_EQ(rename(6, 7, "w")["result"]["changes"]["file:///m.vphi"].size(), 2u);  // u of Q(u)
  EXPECT_TRUE(rename(1, 6, "phi").contains("error"));                              // taken
  EXPECT_TRUE(rename(1, 6, "2m").contains("error"));                               // no name
  EXPECT_TRUE(rename(8, 9, "frog").contains("error"));                             // the library's
  EXPECT_TRUE(session_.result("textDocument/prepareRename", Session::at(8, 9)).is_null());
}

TEST_F(Lsp, FormattingIsThatOfTheCommand) {
  session_.open("model  m\nparam a=1\n");
  const Json params = {{"textDocument", {{"uri", "file:///m.vphi"}}}, {"options", Json::object()}};
  Json edits = session_.result("textDocument/formatting", params);
  ASSERT_EQ(edits.size(), 1u);
  EXPECT_EQ(edits[0]["newText"], "model m\nparam a = 1\n");
  session_.open("model m\nparam a = 1\n");
  EXPECT_EQ(session_.result("textDocument/formatting", params), Json::array());
  session_.open("model m\nparam a = ((\n");
  EXPECT_TRUE(session_.result("textDocument/formatting", params).is_null());
}

TEST_F(Lsp, RubbishIsAnsweredNotFollowed) {
  const char* rows[] = {"",
                        "{",
                        "[]",
                        "null",
                        "3",
                        "\"x\"",
                        "{\"id\":1}",
                        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":3}",
                        "{\"jsonrpc\":\"2.0\",\"method\":\"textDocument/didOpen\"}",
                        "{\"jsonrpc\":\"2.0\",\"method\":\"textDocument/didChange\",\"params\":[]}",
                        "{\"id\":7,\"method\":\"textDocument/hover\",\"params\":{}}",
                        "{\"id\":8,\"method\":\"no/such\"}",
                        "{\"id\":9,\"result\":null}"};
  for (const char* row : rows) session_.raw(row);
  session_.raw(std::string(100000, '['));
  session_.raw("{\"id\":10,\"method\":\"\xff\xfe\"}");
  session_.open(kModel);
  const auto refused = [&](const Json& position) {
    return session_.request("textDocument/hover", {{"textDocument", {{"uri", "file:///m.vphi"}}},
                                                   {"position", position}});
  };
  EXPECT_TRUE(refused(nullptr).contains("error"));
  EXPECT_TRUE(refused({{"line", -5}, {"character", 1e300}}).contains("result"));
  EXPECT_TRUE(refused({{"line", "x"}, {"character", 0}}).contains("error"));
  EXPECT_EQ(session_.diagnostics(), Json::array());  // it still lives
}

TEST(LspLife, RefusesBeforeInitializeAndAfterShutdown) {
  Session session;
  EXPECT_EQ(session.request("textDocument/hover", Session::at(0, 0))["error"]["code"], -32002);
  session.start();
  session.request("shutdown", nullptr);
  EXPECT_EQ(session.request("textDocument/hover", Session::at(0, 0))["error"]["code"], -32600);
  EXPECT_FALSE(session.server().finished());
  session.notify("exit", nullptr);
  EXPECT_TRUE(session.server().finished());
  EXPECT_EQ(session.server().status(), 0);
}

/// Seconds of this thread, so that a busy machine does not matter.
double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Each question about each shipped model, at every word, within 50 ms.
TEST_F(Lsp, AnswersAboutShippedModelsAreQuick) {
  constexpr double kQuick = 0.05 * kPatience;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(VPHI_SOURCE_DIR "/models")) {
    if (entry.path().extension() != ".vphi") continue;
    const std::string text = test::read_file(entry.path());
    double begin = thread_seconds();
    session_.open(text);
    EXPECT_LT(thread_seconds() - begin, 2 * kQuick) << entry.path();
    session_.diagnostics();
    const LineIndex lines(text);
    double slowest = 0;
    for (std::uint32_t at = 0; at < text.size(); at += 23) {
      const Place place = lines.place(at);
      const int line = static_cast<int>(place.line), column = static_cast<int>(place.character);
      for (const char* what : {"hover", "completion", "definition", "references"}) {
        double quickest = 1e9;
        for (int again = 0; again < 3 && quickest > kQuick; ++again) {  // it may be disturbed
          begin = thread_seconds();
          session_.request(std::string("textDocument/") + what, Session::at(line, column));
          quickest = std::min(quickest, thread_seconds() - begin);
        }
        slowest = std::max(slowest, quickest);
      }
    }
    EXPECT_LE(slowest, kQuick) << entry.path();
  }
}

// Typing a model letter by letter, and with letters lost: every text on the way is answered.
TEST_F(Lsp, EveryTextOnTheWayIsAnswered) {
  const std::string text = kModel;
  std::mt19937 random(1);
  for (std::size_t n = 0; n <= text.size(); n += 3) {
    std::string broken = text.substr(0, n);
    for (int k = 0; k < 3 && !broken.empty(); ++k) broken.erase(random() % broken.size(), 1);
    session_.open(broken);
    const LineIndex lines(broken);
    const Place end = lines.place(static_cast<std::uint32_t>(broken.size()));
    const int line = static_cast<int>(end.line), column = static_cast<int>(end.character);
    for (const char* what : {"hover", "completion", "definition", "documentSymbol", "formatting"}) {
      const Json answer =
          session_.request(std::string("textDocument/") + what, Session::at(line, column));
      EXPECT_TRUE(answer.contains("result")) << what << "\n" << broken << answer;
    }
  }
  EXPECT_TRUE(session_.server().settle(300));
}

}  // namespace
}  // namespace vphi::lsp
