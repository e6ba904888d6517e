#include "tools/reference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "dsl/syntax/load.hpp"
#include "dsl/syntax/parse.hpp"
#include "dsl/types/type_text.hpp"
#include "dsl/types/units.hpp"
#include "dsl/words/builtins.hpp"
#include "dsl/words/clauses.hpp"

namespace vphi::tools {
namespace {

using dsl::Rule;

/// A `|` ends a cell of a table.
std::string cell(std::string text) {
  for (auto at = text.find('|'); at != std::string::npos; at = text.find('|', at + 2))
    text.replace(at, 1, "\\|");
  return text;
}

std::string code_list(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "`" : ", `") + word + "`";
  return out;
}

}  // namespace

std::string option_need(const dsl::OptionRule& option) {
  if (!option.required) return {};
  return option.unless.empty() ? " (needed)" : fmt::format(" (needed without `{}`)", option.unless);
}

std::string option_takes(const dsl::OptionRule& option) {
  switch (option.takes) {
    case dsl::Takes::Number:
      return "a number";
    case dsl::Takes::Positive:
      return "a number above 0";
    case dsl::Takes::Lengths:
      return "a positive number, or a list of such";
    case dsl::Takes::Count:
      return "a whole number from 1 on";
    case dsl::Takes::AtSite:
      return "an expression of the state at a site";
    case dsl::Takes::Vector:
      return "the same, with a component for each axis";
    case dsl::Takes::Guess:
      return "a number, or an expression at a site";
    case dsl::Takes::Values:
      return "a list of whole numbers, or a range";
    case dsl::Takes::Condition:
      return "a condition";
    case dsl::Takes::Axes:
      return "a list of sweep axes";
    case dsl::Takes::Laws:
      return "the name of a conserved quantity, a list of such, or `none`";
    case dsl::Takes::Word:
    case dsl::Takes::Call:
      return option.words.empty() ? "a name"
                                  : code_list(dsl::split_words(std::string(option.words)));
  }
  return "";
}

namespace {

std::string clauses() {
  std::string out = "## Clauses\n";
  for (const dsl::ClauseRule& rule : dsl::clause_rules()) {
    out += fmt::format("\n### {}\n\n`{}`\n\n{}", rule.keyword, rule.usage,
                       dsl::clause_doc(rule.keyword));
    if (rule.once) out += " At most once in a model.";
    if (!rule.inside.empty()) out += fmt::format(" Stands in the body of `{}`.", rule.inside);
    out += "\n";
    if (rule.options.empty()) continue;
    out += "\n| option | takes | meaning |\n|---|---|---|\n";
    for (const dsl::OptionRule& option : rule.options)
      out += fmt::format("| `{}`{} | {} | {} |\n", option.name, option_need(option),
                         cell(option_takes(option)), cell(std::string(option.doc)));
  }
  return out;
}

/// Functions of one kind, in the order of the table.
std::string functions(const std::string& title, const std::string& text,
                      const std::vector<Rule>& rules) {
  std::string out = fmt::format("\n### {}\n\n{}| name | meaning | options |\n|---|---|---|\n",
                                title, text.empty() ? "" : text + "\n\n");
  for (const dsl::Builtin& b : dsl::builtins()) {
    if (std::find(rules.begin(), rules.end(), b.rule) == rules.end()) continue;
    out += fmt::format("| `{}` | {} | {} |\n", b.name, cell(std::string(b.doc)),
                       code_list(dsl::split_words(std::string(b.options))));
  }
  return out;
}

std::string all_functions() {
  return "\n## Functions\n\nArguments and the expressions around them are described in "
         "[language.md](language.md).\n" +
         functions("Elementary", "", {Rule::RealFunction, Rule::RealOnly, Rule::Fold}) +
         functions("Complex numbers, vectors, matrices", "",
                   {Rule::RealPart, Rule::Norm, Rule::Conjugate, Rule::Dot, Rule::Cross,
                    Rule::Outer, Rule::Trace, Rule::Adjoint}) +
         functions("Derivatives and neighbours", "",
                   {Rule::Derivative, Rule::Keep, Rule::Gradient, Rule::Divergence,
                    Rule::TransverseTraceless, Rule::SumOfNeighbours}) +
         functions("Sums and averages",
                   "With one argument over the lattice (or the particles); names without meaning "
                   "after it are indices.",
                   {Rule::Reduce, Rule::ReduceOrFold, Rule::Quantifier, Rule::First}) +
         functions("Links and fermions", "",
                   {Rule::PathProduct, Rule::Colours, Rule::GroupProjection, Rule::UnitSpinor,
                    Rule::Determinant}) +
         functions("Sites, tables, files", "",
                   {Rule::SiteNumber, Rule::Table, Rule::OfFormula, Rule::File}) +
         functions("Outputs", "In `every` and `at end` only.", {Rule::Output}) +
         functions("Promises", "In `expect` only.", {Rule::Promise}) +
         functions("Distributions", "Behind `~` only.", {Rule::Distribution}) +
         functions("Values of a sweep", "", {Rule::SweepValues});
}

std::string given_names() {
  std::string out =
      "\n## Names that constructs give\n\n"
      "A construct that is there gives its names. A model may use one of them for itself; the "
      "construct's is then written in full, `frw.H`.\n\n"
      "| name | from | meaning |\n|---|---|---|\n";
  for (const dsl::GivenName& name : dsl::given_names())
    out += fmt::format("| `{}` | `{}` | {}{} |\n", name.name, name.construct,
                       cell(std::string(name.doc)), name.per_site ? "; a value at each site" : "");
  for (const dsl::BuiltinConstant& constant : dsl::constants())
    out += fmt::format("| `{}` | always | {} |\n", constant.name, cell(std::string(constant.doc)));
  return out;
}

/// Names of one kind with their `##` text.
std::string library(const std::vector<dsl::ModelText>& texts, const std::string& keyword,
                    const std::string& title, const std::string& use) {
  std::string out = fmt::format("\n### {}\n\n{}\n\n| name | text |\n|---|---|\n", title, use);
  for (const dsl::ModelText& text : texts) {
    for (const dsl::Line& line : text.lines) {
      if (line.kind != dsl::Line::Kind::Clause || line.clause.keyword != keyword) continue;
      const dsl::Item& item = line.clause.items.front();
      const std::string name = item.head ? item.head->name : item.value->text;
      std::string own = line.documentation;
      for (char& c : own)
        if (c == '\n') c = ' ';
      out += fmt::format("| `{}` | {} |\n", name, cell(own));
    }
  }
  return out;
}

/// Functions of the library with their `##` text; those without are parts of others.
std::string library_functions(const std::vector<dsl::ModelText>& texts) {
  std::string out =
      "\n### Functions\n\nA model that calls one has its lines.\n\n| call | text |\n|---|---|\n";
  for (const dsl::ModelText& text : texts) {
    for (const dsl::Line& line : text.lines) {
      if (line.kind != dsl::Line::Kind::Definition || line.documentation.empty()) continue;
      std::string own = line.documentation, arguments;
      for (char& c : own)
        if (c == '\n') c = ' ';
      for (const dsl::ExprPtr& argument : line.definition.head.args)
        arguments += (arguments.empty() ? "" : ", ") + argument->text;
      out += fmt::format("| `{}({})` | {} |\n", line.definition.head.name, arguments, cell(own));
    }
  }
  return out;
}

}  // namespace

std::string reference() {
  dsl::Diagnostics reading;
  const auto texts = dsl::load_library(reading);
  std::string out =
      "# Reference\n\n"
      "Written by `vphi explain --reference` from the tables that the compiler reads; "
      "[language.md](language.md) explains lines, items and expressions.\n\n";
  out += clauses() + all_functions() + given_names();
  out += "\n## Types\n\n" + code_list(dsl::type_names()) + ".\n";
  out += "\n## Units\n\nIn brackets after a number: " + code_list(dsl::unit_names()) +
         ", and products, quotients and powers of them (`GeV/fm^3`). Systems for `units`: " +
         code_list(dsl::system_names()) + ", or any unit of energy.\n";
  out +=
      "\n## The library\n\nTexts in the language itself (`models/std`), to be read, copied and "
      "changed.\n";
  out += library(texts, "stencil", "Laplacians", "`laplacian = NAME` says which one `lap` means.");
  out += library(texts, "integrator", "Integrators", "`evolve NAME, dt = ...`.");
  out += library(texts, "scheme", "Flux schemes", "`scheme NAME`.");
  out += library_functions(texts);
  return out;
}

}  // namespace vphi::tools
