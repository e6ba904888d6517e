#include "tools/entry.hpp"

#include <fmt/format.h>

#include <cctype>

#include "dsl/syntax/load.hpp"
#include "dsl/syntax/parse.hpp"
#include "dsl/words/builtins.hpp"
#include "dsl/words/clauses.hpp"
#include "tools/model.hpp"
#include "tools/reference.hpp"

namespace vphi::tools {
namespace {

bool letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Whether `text` holds `word` as a whole word, with `behind` right after it.
bool holds(std::string_view text, std::string_view word, std::string_view behind) {
  for (auto at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const auto end = at + word.size();
    if ((at == 0 || !letter(text[at - 1])) && (end == text.size() || !letter(text[end])) &&
        text.substr(end).starts_with(behind))
      return true;
  }
  return false;
}

/// The condition on an example: a clause of this keyword (empty: any line) that holds the word.
struct Wanted {
  std::string keyword, word, behind;
};

/// The shortest line of a shipped model that fits.
void find_example(const Wanted& wanted, ReferenceEntry& entry) {
  for (const auto& [name, path] : shipped_models()) {
    dsl::Diagnostics reading;
    const dsl::ModelText model = dsl::load_model(path, reading);
    for (const dsl::Line& line : model.lines) {
      const bool clause = line.kind == dsl::Line::Kind::Clause;
      if (!wanted.keyword.empty() && !(clause && line.clause.keyword == wanted.keyword)) continue;
      if (clause && line.clause.keyword == "model") continue;  // its title is prose
      const std::string_view text = model.source->at(line.span);
      if (!wanted.word.empty() && !holds(text, wanted.word, wanted.behind)) continue;
      if (!entry.example.empty() && text.size() >= entry.example.size()) continue;
      entry.example = text;
      entry.source = name;
    }
  }
}

ReferenceEntry clause_entry(const dsl::ClauseRule& rule) {
  ReferenceEntry entry{.kind = "clause",
                       .usage = std::string(rule.usage),
                       .meaning = std::string(dsl::clause_doc(rule.keyword))};
  if (rule.once) entry.meaning += " At most once in a model.";
  if (!rule.inside.empty())
    entry.meaning += fmt::format(" Stands in the body of `{}`.", rule.inside);
  for (const dsl::OptionRule& option : rule.options)
    entry.options.push_back(fmt::format("{}{}: {}; {}", option.name, option_need(option),
                                        option_takes(option), option.doc));
  find_example({.keyword = std::string(rule.inside.empty() ? rule.keyword : rule.inside),
                .word = std::string(rule.inside.empty() ? "" : rule.keyword),
                .behind = ""},
               entry);
  return entry;
}

ReferenceEntry option_entry(const dsl::ClauseRule& rule, const dsl::OptionRule& option) {
  ReferenceEntry entry{
      .kind = fmt::format("option of `{}`", rule.keyword),
      .usage = std::string(rule.usage),
      .meaning = fmt::format("{} = {}; {}", option.name, option_takes(option), option.doc)};
  find_example(
      {.keyword = std::string(rule.keyword), .word = std::string(option.name), .behind = ""},
      entry);
  return entry;
}

ReferenceEntry function_entry(const dsl::Builtin& function) {
  ReferenceEntry entry{.kind = "function",
                       .usage = fmt::format("{}(...)", function.name),
                       .meaning = std::string(function.doc)};
  for (const std::string& option : dsl::split_words(std::string(function.options)))
    entry.options.push_back(option + " = ...");
  const bool bare = function.most == 0;
  find_example({.keyword = "", .word = std::string(function.name), .behind = bare ? "" : "("},
               entry);
  return entry;
}

/// The heads of the library's texts: name, the line, and the text that it stands in.
struct LibraryLine {
  std::string name;
  const dsl::Line* line = nullptr;
  const dsl::ModelText* text = nullptr;
};

std::vector<LibraryLine> library_lines(const std::vector<dsl::ModelText>& texts) {
  std::vector<LibraryLine> out;
  for (const dsl::ModelText& text : texts)
    for (const dsl::Line& line : text.lines) {
      if (line.kind != dsl::Line::Kind::Clause || line.clause.items.empty()) continue;
      const dsl::Item& item = line.clause.items.front();
      out.push_back({item.head ? item.head->name : item.value->text, &line, &text});
    }
  return out;
}

ReferenceEntry library_entry(const LibraryLine& found) {
  ReferenceEntry entry{.kind = found.line->clause.keyword,
                       .usage = found.name,
                       .meaning = found.line->documentation,
                       .text = std::string(found.text->source->at(found.line->span))};
  find_example({.keyword = "", .word = found.name, .behind = ""}, entry);
  return entry;
}

std::vector<dsl::ModelText> library() {
  dsl::Diagnostics reading;
  return dsl::load_library(reading);
}

}  // namespace

std::vector<ReferenceEntry> reference_entries(const std::string& word) {
  std::vector<ReferenceEntry> out;
  for (const dsl::ClauseRule& rule : dsl::clause_rules())
    if (rule.keyword == word) out.push_back(clause_entry(rule));
  if (const dsl::Builtin* function = dsl::find_builtin(word))
    out.push_back(function_entry(*function));
  for (const dsl::GivenName& name : dsl::given_names())
    if (name.name == word) {
      out.push_back({.kind = fmt::format("name that `{}` gives", name.construct),
                     .usage = word,
                     .meaning = fmt::format("{}{}", name.doc,
                                            name.per_site ? "; a value at each site" : "")});
      find_example({.keyword = "", .word = word, .behind = ""}, out.back());
    }
  if (const dsl::BuiltinConstant* constant = dsl::find_constant(word))
    out.push_back({.kind = "constant",
                   .usage = fmt::format("{} = {:.17g}", word, constant->value),
                   .meaning = std::string(constant->doc)});
  const auto texts = library();
  for (const LibraryLine& line : library_lines(texts))
    if (line.name == word) out.push_back(library_entry(line));
  for (const dsl::ClauseRule& rule : dsl::clause_rules())
    for (const dsl::OptionRule& option : rule.options)
      if (option.name == word) out.push_back(option_entry(rule, option));
  return out;
}

std::vector<std::string> reference_words() {
  std::vector<std::string> out;
  for (const dsl::ClauseRule& rule : dsl::clause_rules()) {
    out.emplace_back(rule.keyword);
    for (const dsl::OptionRule& option : rule.options) out.emplace_back(option.name);
  }
  for (const dsl::Builtin& b : dsl::builtins()) out.emplace_back(b.name);
  for (const dsl::GivenName& name : dsl::given_names()) out.emplace_back(name.name);
  for (const dsl::BuiltinConstant& constant : dsl::constants()) out.emplace_back(constant.name);
  const auto texts = library();
  for (const LibraryLine& line : library_lines(texts)) out.push_back(line.name);
  return out;
}

std::string entries_text(const std::string& word, const std::vector<ReferenceEntry>& entries) {
  std::string out;
  for (const ReferenceEntry& entry : entries) {
    if (!out.empty()) out += "\n";
    out += fmt::format("{}: {}\n\n  {}\n\n{}\n", word, entry.kind, entry.usage, entry.meaning);
    if (!entry.options.empty()) out += "\nOptions\n";
    for (const std::string& option : entry.options) out += fmt::format("  {}\n", option);
    if (!entry.text.empty()) out += fmt::format("\n{}\n", entry.text);
    if (!entry.example.empty())
      out += fmt::format("\nFor instance, in {}:\n  {}\n", entry.source, entry.example);
  }
  return out + "\nAll of it: docs/reference.md, or `vphi explain --reference`.\n";
}

}  // namespace vphi::tools
