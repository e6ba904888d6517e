// A few lines on a word: declaration, documentation, type, value, unit, derived equation.
#include <fmt/format.h>

#include "dsl/name_errors.hpp"
#include "dsl/syntax/parse.hpp"
#include "dsl/syntax/walk.hpp"
#include "dsl/types/constant.hpp"
#include "dsl/words/builtins.hpp"
#include "dsl/words/clauses.hpp"
#include "lsp/features.hpp"

namespace vphi::lsp {

namespace {

using dsl::SymbolKind;

std::string code(const std::string& text) { return "```vphi\n" + text + "\n```\n"; }

/// The text of an `##` line, which belongs to all names of its line.
std::string documentation(const dsl::Symbol& symbol) {
  if (symbol.line == nullptr || symbol.line->documentation.empty()) return {};
  return symbol.line->documentation + "\n\n";
}

std::string value_text(const Analysis& analysis, const dsl::Symbol& symbol) {
  if (!symbol.value || !symbol.parameters.empty()) return {};
  const auto value = dsl::constant_value(analysis.resolved, *symbol.value);
  if (!value) return {};
  const dsl::Expr& written = *symbol.value;
  std::string text = fmt::format("value {:.10g}", *value);
  bool with_unit = false;
  dsl::for_each(symbol.value, [&](const dsl::Expr& e) {
    with_unit = with_unit || e.kind == dsl::ExprKind::Unit;
  });
  if (written.kind == dsl::ExprKind::Unit)
    text += fmt::format(" in base units, [{}] as written", written.text);
  else if (with_unit)
    text += " in base units";
  return text + "\n\n";
}

/// The type that inference found, or the declared one.
std::string type_text(const Analysis& analysis, const dsl::Symbol& symbol) {
  dsl::Type type = symbol.type;
  if (type.base == dsl::Type::Base::Unknown && symbol.value) {
    const auto found = analysis.resolved.types.find(symbol.value.get());
    if (found != analysis.resolved.types.end()) type = found->second;
  }
  if (type.base == dsl::Type::Base::Unknown) return {};
  return ", " + dsl::to_string(type) + (type.per_site ? ", a value at each site" : "");
}

std::string equations_of(const Derived& derived, const std::string& name) {
  std::string text;
  const auto add = [&](const std::vector<DerivedEquation>& all, const char* title) {
    std::string part;
    for (const DerivedEquation& e : all) {
      // phi'', re(phi)'', a', H^2
      const auto at = e.left.find(name);
      if (at == std::string::npos) continue;
      const auto part_of_word = [&](std::size_t i) {
        return i < e.left.size() &&
               (std::isalnum(static_cast<unsigned char>(e.left[i])) != 0 || e.left[i] == '_');
      };
      if ((at > 0 && part_of_word(at - 1)) || part_of_word(at + name.size())) continue;
      part += e.left + " = " + e.right + "\n";
    }
    if (!part.empty())
      text += fmt::format("{}\n{}\n", title, code(part.substr(0, part.size() - 1)));
  };
  add(derived.physical, "Equation of motion, physical units:");
  add(derived.program, "In program units:");
  return text;
}

std::string of_symbol(const Analysis& analysis, const Derived* derived, const dsl::Symbol& symbol) {
  if (symbol.kind == SymbolKind::Construct) {
    std::string text;
    for (const dsl::GivenName& given : dsl::given_names()) {
      const bool same =
          given.name == symbol.name || (given.name == "a" && given.construct == "metric");
      const bool here = given.construct == symbol.origin ||
                        (given.construct == "H" && symbol.origin == "hamiltonian") ||
                        given.construct == "metric";
      if (!same || !here) continue;
      text = fmt::format("`{}`: {}, given by `{}`\n\n", symbol.name, given.doc, symbol.origin);
      if (given.construct == symbol.origin) break;
    }
    if (derived != nullptr) text += equations_of(*derived, symbol.name);
    return text;
  }
  std::string text = code(declaration_text(analysis, symbol));
  text += documentation(symbol);
  const bool library = symbol.kind == SymbolKind::Stencil ||
                       symbol.kind == SymbolKind::Integrator || symbol.kind == SymbolKind::Scheme ||
                       symbol.kind == SymbolKind::Solver;
  text += dsl::errors::kind_name(symbol) + (library ? "" : type_text(analysis, symbol));
  text += symbol.origin.empty() ? "\n\n" : ", from " + symbol.origin + "\n\n";
  if (!library) text += value_text(analysis, symbol);
  if (derived != nullptr) text += equations_of(*derived, symbol.name);
  return text;
}

std::string of_function(const dsl::Builtin& builtin) {
  std::string text = fmt::format("`{}`: {}\n\n", builtin.name, builtin.doc);
  const std::string options(builtin.options);
  if (!options.empty()) {
    text += "options:";
    for (const std::string& option : dsl::split_words(options)) text += " `" + option + "`";
    text += "\n\n";
  }
  return text;
}

std::string of_option(const dsl::OptionRule& option) {
  std::string text = fmt::format("`{}`: {}", option.name, option.doc);
  if (!option.words.empty()) {
    text += "; one of";
    for (const std::string& word : dsl::split_words(option.words)) text += " `" + word + "`";
  }
  return text + "\n\n";
}

std::string of_clause(const dsl::ClauseRule& rule) {
  std::string text =
      code(std::string(rule.usage)) + std::string(dsl::clause_doc(rule.keyword)) + "\n\n";
  for (const dsl::OptionRule& option : rule.options) {
    std::string line = of_option(option);
    text += "- " + line.substr(0, line.size() - 1);
  }
  return text;
}

}  // namespace

Json hover(const Analysis& analysis, const Derived* derived, std::uint32_t offset) {
  const Meaning meaning = meaning_at(analysis, offset);
  std::string text;
  switch (meaning.kind) {
    case Meaning::Kind::Nothing:
      return nullptr;
    case Meaning::Kind::Keyword: {
      const dsl::ClauseRule* rule = dsl::find_clause(meaning.name);
      if (rule == nullptr) return nullptr;
      text = of_clause(*rule);
      break;
    }
    case Meaning::Kind::Option: {
      const dsl::ClauseRule* rule = dsl::find_clause(meaning.clause->keyword);
      for (const auto& option : rule->options)
        if (option.name == meaning.name) text = of_option(option);
      if (text.empty() && rule->keyword == "init") {
        if (const dsl::Symbol* symbol = analysis.resolved.find(meaning.name))
          text = of_symbol(analysis, derived, *symbol);
      }
      break;
    }
    case Meaning::Kind::Local:
      text = fmt::format("`{}`: a name of this line alone\n", meaning.name);
      break;
    case Meaning::Kind::Symbol:
      text = of_symbol(analysis, derived, *meaning.symbol);
      break;
    case Meaning::Kind::Function:
      text = of_function(*dsl::find_builtin(meaning.name));
      break;
    case Meaning::Kind::Constant: {
      const dsl::BuiltinConstant* constant = dsl::find_constant(meaning.name);
      text = fmt::format("`{}` = {:.15g}: {}\n", constant->name, constant->value, constant->doc);
      break;
    }
    case Meaning::Kind::Type:
      text = fmt::format("`{}`: a type\n", meaning.name);
      break;
  }
  if (text.empty()) return nullptr;
  return {{"contents", {{"kind", "markdown"}, {"value", text}}},
          {"range", range(analysis.lines, meaning.at)}};
}

}  // namespace vphi::lsp
