// Finds clauses and items of a model that have no effect.
//
// A part of a model is removed and the rest is compiled. If this succeeds without another warning
// and the program is the same, the part is idle. A part that states the default (`boundary =
// periodic`) is recognised by another value in its place, which must make another program. A part
// with a diagnostic of the compiler on its line is not idle.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "compiler/compile.hpp"
#include "dsl/syntax/load.hpp"
#include "dsl/syntax/parse.hpp"
#include "dsl/words/clauses.hpp"
#include "program/json.hpp"
#include "scratch_file.hpp"

namespace vphi::fuzz {

/// The compiled program as text, without parts that are only shown; nothing where compilation
/// fails.
inline std::optional<std::string> fingerprint(const std::string& text, dsl::Diagnostics* said) {
  const ScratchFile file(reinterpret_cast<const std::uint8_t*>(text.data()), text.size(), ".vphi");
  emit::TargetInfo target;
  target.target = program::Target::Cuda;  // all options mean something there
  target.is_cpu = false;
  target.nvidia = true;
  Compilation c = compile_model(file.path(), {}, target);
  if (said) *said = c.diagnostics;
  if (!c.program) return std::nullopt;
  program::Program& p = *c.program;
  p.model_text.clear();
  for (program::StateVariable& state : p.state) state.line.clear(), state.line_number = 0;
  for (program::Kernel& kernel : p.kernels) {
    std::string code;
    for (std::size_t at = 0; at < kernel.source.size();) {
      const std::size_t end = std::min(kernel.source.find('\n', at), kernel.source.size());
      const std::string line = kernel.source.substr(at, end - at);
      const std::size_t first = line.find_first_not_of(' ');
      if (first != std::string::npos && line.compare(first, 2, "//") != 0) code += line + "\n";
      at = end + 1;
    }
    kernel.source = std::move(code);
  }
  return program::to_json(p, -1);
}

/// Parts that only give a name, or state the only possible choice.
inline bool states_only(const std::string& shown) {
  const auto begins = [&](const char* text) { return shown.starts_with(text); };
  const auto is_name = [&](const char* clause) {
    return begins(clause) && shown.find_first_of("=^*") == std::string::npos;
  };
  if (is_name("lattice: ") || is_name("particles: ")) return true;  // of the box, of a species
  if (begins("init") && shown.ends_with(" = 0")) return true;       // where state starts anyway
  return begins("solve: ");  // a closed form takes its place, or rounds are counted by the compiler
}

/// A clause of a model (or of a body in it), and one of its items; -1: the whole clause.
struct Part {
  std::size_t line = 0;
  int inner = -1, item = -1;
};

class Clauses {
  template <class Model>
  static auto& clause_of(Model& model, const Part& part) {
    auto& clause = model.lines[part.line].clause;
    return part.inner < 0 ? clause : clause.body[static_cast<std::size_t>(part.inner)].clause;
  }

 public:
  explicit Clauses(const std::string& text) {
    dsl::Diagnostics reading;
    model_ = dsl::parse(std::make_shared<const dsl::Source>("clauses.vphi", text), reading);
    if (reading.has_errors()) return;
    whole_ = fingerprint(dsl::format(model_), nullptr);
    if (whole_) fingerprint(text, &said_);
  }

  bool compiles() const { return whole_.has_value(); }

  std::vector<Part> parts() const {
    std::vector<Part> all;
    for (std::size_t i = 0; i < model_.lines.size(); ++i) {
      const dsl::Line& line = model_.lines[i];
      if (line.kind != dsl::Line::Kind::Clause || line.clause.keyword == "model") continue;
      add(all, line.clause, i, -1);
      for (std::size_t k = 0; k < line.clause.body.size(); ++k)
        if (line.clause.body[k].kind == dsl::Line::Kind::Clause)
          add(all, line.clause.body[k].clause, i, static_cast<int>(k));
    }
    return all;
  }

  /// Whether it can be removed or replaced by other values without a change.
  bool idle(const Part& part) const {
    const dsl::Clause& clause = clause_of(model_, part);
    if (part.item < 0 && clause.items.size() > 1) return false;  // its items are parts of their own
    if (states_only(shown(part)) || answered(part) || !same(without(part))) return false;
    if (part.item >= 0) return alike(part);
    return clause.items.empty() || alike({part.line, part.inner, 0});
  }

  /// Whether writing a clause twice gives neither an error nor another program.
  bool idle_twice(std::size_t line) const {
    dsl::ModelText twice = model_;
    twice.lines.insert(twice.lines.begin() + static_cast<std::ptrdiff_t>(line), model_.lines[line]);
    return same(dsl::format(twice));
  }

  std::string shown(const Part& part) const {
    const dsl::Clause& clause = clause_of(model_, part);
    dsl::ModelText one;
    one.lines.push_back(model_.lines[part.line]);
    std::string text = part.inner < 0 ? dsl::format(one) : clause.keyword;
    if (part.item < 0) return text.substr(0, text.find('\n'));
    const dsl::Item& item = clause.items[static_cast<std::size_t>(part.item)];
    return clause.keyword + ": " + (item.head ? dsl::to_text(*item.head) + " = " : "") +
           (item.value ? dsl::to_text(*item.value) : "");
  }

 private:
  static void add(std::vector<Part>& all, const dsl::Clause& clause, std::size_t line, int inner) {
    all.push_back({line, inner, -1});
    if (clause.items.size() < 2) return;
    for (std::size_t i = 0; i < clause.items.size(); ++i)
      all.push_back({line, inner, static_cast<int>(i)});
  }

  static dsl::Item& item_of(dsl::ModelText& model, const Part& part) {
    return clause_of(model, part).items[static_cast<std::size_t>(part.item)];
  }

  std::string without(const Part& part) const {
    dsl::ModelText rest = model_;
    if (part.item >= 0) {
      auto& items = clause_of(rest, part).items;
      const dsl::Item::Leading leading = items[static_cast<std::size_t>(part.item)].leading;
      items.erase(items.begin() + part.item);
      if (part.item < static_cast<int>(items.size()) && leading != dsl::Item::Leading::Comma)
        items[static_cast<std::size_t>(part.item)].leading = leading;
    } else if (part.inner >= 0) {
      auto& body = rest.lines[part.line].clause.body;
      body.erase(body.begin() + part.inner);
    } else {
      rest.lines.erase(rest.lines.begin() + static_cast<std::ptrdiff_t>(part.line));
    }
    return dsl::format(rest);
  }

  /// Whether other values of an item make the same program.
  bool alike(const Part& item) const {
    return std::ranges::all_of(others(item), [&](const std::string& other) {
      dsl::Diagnostics reading, said;
      const auto source = std::make_shared<const dsl::Source>("other", other, 0xfff0);
      dsl::ModelText changed = model_;
      item_of(changed, item).value = dsl::parse_expression(source, reading);
      if (reading.has_errors()) return true;
      const auto made = fingerprint(dsl::format(changed), &said);
      return made ? *made == *whole_ : !refused_later(said);
    });
  }

  /// Refused by the derivation or a later stage: names, types and forms of clauses are E01xx to
  /// E06xx.
  static bool refused_later(const dsl::Diagnostics& said) {
    return std::ranges::none_of(said.all(),
                                [](const dsl::Diagnostic& d) {
                                  return d.severity == dsl::Severity::Error && d.code >= "E0100" &&
                                         d.code < "E0300";
                                }) &&
           std::ranges::none_of(said.all(), [](const dsl::Diagnostic& d) {
             return d.severity == dsl::Severity::Error && d.code >= "E0400" && d.code < "E0700";
           });
  }

  /// The same program, without a warning that the whole model does not give.
  bool same(const std::string& text) const {
    dsl::Diagnostics said;
    const auto made = fingerprint(text, &said);
    return made && *made == *whole_ && warnings(said) <= warnings(said_);
  }

  static std::ptrdiff_t warnings(const dsl::Diagnostics& said) {
    return std::ranges::count(said.all(), dsl::Severity::Warning, &dsl::Diagnostic::severity);
  }

  /// Whether the compiler has a diagnostic on this line.
  bool answered(const Part& part) const {
    const dsl::Span line = model_.lines[part.line].span;
    for (const dsl::Diagnostic& d : said_.all())
      if (d.span.file == line.file && d.span.begin >= line.begin && d.span.end <= line.end)
        return true;
    return false;
  }

  /// Other values for the item.
  std::vector<std::string> others(const Part& part) const {
    const dsl::Clause& clause = clause_of(model_, part);
    const dsl::Item& item = clause.items[static_cast<std::size_t>(part.item)];
    if (!item.value) return {};
    const std::string value = dsl::to_text(*item.value);
    std::vector<std::string> all{"3*(" + value + ") + 1", "not (" + value + ")"};
    if (value == "on" || value == "off") all.push_back(value == "on" ? "off" : "on");
    if (value == "cold") all.push_back("hot");  // links start at 1 where nothing is said
    const dsl::ClauseRule* rule = dsl::find_clause(clause.keyword);
    for (std::size_t i = 0; rule && item.head && i < rule->options.size(); ++i) {
      if (rule->options[i].name != item.head->name) continue;
      for (const std::string& word : dsl::split_words(rule->options[i].words)) all.push_back(word);
    }
    return all;
  }

  dsl::ModelText model_;
  dsl::Diagnostics said_;
  std::optional<std::string> whole_;
};

}  // namespace vphi::fuzz
