#include "dsl/unused.hpp"

#include <algorithm>
#include <set>

#include "dsl/name_errors.hpp"
#include "dsl/syntax/walk.hpp"
#include "dsl/words/clauses.hpp"

namespace vphi::dsl {

namespace {

/// All names in a model's lines: values, calls and names of arguments.
std::set<std::string> named_anywhere(const Resolved& resolved) {
  std::set<std::string> names;
  std::vector<Line> lines = resolved.model.lines;
  lines.insert(lines.end(), resolved.as_written.begin(), resolved.as_written.end());
  for (const Line& line : lines) {
    // the head of a text, `scheme mine(U' = ...) { }`, is no use of it
    const bool text = line.kind == Line::Kind::Clause && line.clause.has_body;
    const Expr* head =
        text && !line.clause.items.empty() ? line.clause.items.front().value.get() : nullptr;
    for_each(line, [&](const Expr& expr) {
      if (&expr == head) return;
      if (expr.kind == ExprKind::Name || expr.kind == ExprKind::Call) names.insert(expr.text);
      for (const NamedArgument& argument : expr.named) names.insert(argument.name);
    });
    if (line.kind == Line::Kind::Equation) names.insert(line.definition.head.name);
  }
  return names;
}

/// A definition of this name chooses the stencil of `lap` (dsl/library_check.hpp).
constexpr const char* kChosenLaplacian = "laplacian";

/// The clause with an option of this name.
std::string clause_with_option(const std::string& name) {
  for (const ClauseRule& rule : clause_rules())
    for (const OptionRule& option : rule.options)
      if (option.name == name && rule.inside.empty()) return std::string(rule.keyword);
  return {};
}

}  // namespace

void warn_of_unused(Resolved& resolved) {
  if (resolved.diagnostics.has_errors()) return;
  std::set<std::string> used = named_anywhere(resolved);
  used.insert(resolved.written_out.begin(), resolved.written_out.end());
  std::vector<Diagnostic> found;
  for (const auto& [name, symbol] : resolved.symbols) {
    const bool may = symbol.kind == SymbolKind::Definition || symbol.kind == SymbolKind::Drawn ||
                     symbol.kind == SymbolKind::Parameter || symbol.kind == SymbolKind::Stencil ||
                     symbol.kind == SymbolKind::Integrator || symbol.kind == SymbolKind::Scheme ||
                     symbol.kind == SymbolKind::Solver;
    if (!may || !symbol.value || symbol.declared.empty() || symbol.declared.file != 0) continue;
    if (used.contains(name) || name == kChosenLaplacian) continue;
    found.push_back(errors::unused(symbol, clause_with_option(name)));
  }
  std::ranges::sort(found, {}, [](const Diagnostic& d) { return d.span.begin; });
  for (Diagnostic& d : found) resolved.diagnostics.add(std::move(d));
}

}  // namespace vphi::dsl
