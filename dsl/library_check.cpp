#include "dsl/library_check.hpp"

#include <algorithm>
#include <set>

#include "dsl/collect.hpp"
#include "dsl/messages/suggest.hpp"
#include "dsl/model_function.hpp"
#include "dsl/name_errors.hpp"
#include "dsl/syntax/walk.hpp"
#include "dsl/types/types.hpp"
#include "dsl/words/builtins.hpp"

namespace vphi::dsl {

namespace {

class BodyCheck {
 public:
  BodyCheck(Resolved& resolved, const Clause& clause)
      : resolved_(resolved), own_(clause.keyword_span.file == 0) {
    if (clause.keyword == "scheme") known_.insert({"primitives", "conserved"});
    for (const char* name : {"dt", "dx", "t", "k", "normal", "noise", "on", "off"}) {
      known_.insert(name);
    }
    for (const Item& item : clause.items) {
      if (item.head) known_.insert(item.head->name);
      // The names in the head's pattern are bound by it: variables, holes, constants, options.
      for_each(item.value, [&](const Expr& expr) {
        if (expr.kind == ExprKind::Name || expr.kind == ExprKind::Call) known_.insert(expr.text);
        for (const NamedArgument& named : expr.named) {
          known_.insert(named.name.substr(0, named.name.find_first_of("'(")));
          const std::size_t open = named.name.find('(');  // `A(x)` of a solver
          if (open != std::string::npos)
            known_.insert(named.name.substr(open + 1, named.name.size() - open - 2));
        }
      });
    }
    if (clause.keyword == "integrator") known_.insert({"phi1", "phi2"});  // of linear parts
    if (clause.keyword == "solver")
      known_.insert({"inner", "again", "shift"});  // the solver within; shifts
    for (const Definition& fact : clause.where) known_.insert(fact.head.name);
    learn(clause);
    for (const Definition& fact : clause.where) check(fact.value);
    body(clause, clause.keyword);
  }

 private:
  void learn(const Clause& clause) {
    for (const Line& line : clause.body) {
      if (line.kind != Line::Kind::Clause) known_.insert(line.definition.head.name);
      if (line.kind == Line::Kind::Clause) learn(line.clause);
    }
  }

  void body(const Clause& clause, const std::string& keyword) {
    for (const Line& line : clause.body) {
      if (line.kind != Line::Kind::Clause) {
        check(line.definition.value);
      } else if (keyword == "solver" && line.clause.keyword == "repeat") {
        for (const Item& item : line.clause.items) check(item.value);
        body(line.clause, "repeat");
      } else {
        report_clause(line.clause);
      }
    }
  }

  void report_clause(const Clause& clause) {
    resolved_.diagnostics.add(
        errors::unknown_clause(clause.keyword_span, clause.keyword, std::nullopt));
  }

  void check(const ExprPtr& expr) {
    for_each(expr, [&](const Expr& node) {
      if (node.kind != ExprKind::Name && node.kind != ExprKind::Call) return;
      if (known_.count(node.text) > 0 || find_builtin(node.text) != nullptr ||
          find_constant(node.text) != nullptr) {
        return;
      }
      if (node.kind == ExprKind::Call && own_ && function(node)) return;
      const std::vector<std::string> names(known_.begin(), known_.end());
      const auto near = suggest(node.text, names);
      if (node.kind == ExprKind::Call) {
        resolved_.diagnostics.add(errors::unknown_function(node.span, node.text, nullptr, near));
      } else {
        resolved_.diagnostics.add(errors::unknown_in_body(node.span, node.text, near));
      }
    });
  }

  /// A function of the model, which a body of the model may call: it sees its arguments alone.
  bool function(const Expr& call) {
    const Symbol* symbol = model_function(resolved_, call.text);
    if (symbol == nullptr) return false;
    const std::vector<std::string>& parameters = symbol->parameters;
    if (call.args.size() != parameters.size()) {
      std::string usage = symbol->name + "(";
      for (const std::string& name : parameters) usage += (usage.back() == '(' ? "" : ", ") + name;
      resolved_.diagnostics.add(errors::wrong_arity(
          call.span, symbol->name, usage + ")", static_cast<int>(parameters.size()),
          static_cast<int>(call.args.size()), "", symbol->declared));
    }
    if (!seen_.insert(symbol->name).second) return true;
    for_each(symbol->value, [&](const Expr& node) {
      const bool name = node.kind == ExprKind::Name;
      if (!name && node.kind != ExprKind::Call) return;
      if (name && std::ranges::count(parameters, node.text) > 0) return;
      if (find_constant(node.text) != nullptr) return;
      if (!name && (find_builtin(node.text) != nullptr || function(node))) return;
      resolved_.diagnostics.add(
          errors::function_in_body(node.span, node.text, symbol->name, call.span));
    });
    return true;
  }

  Resolved& resolved_;
  bool own_;  ///< a body of the model, not of the library
  std::set<std::string> known_, seen_;
};

void stencil(Resolved& resolved, Inference& inference, const Clause& clause) {
  const Item& item = clause.items.front();
  if (!item.head || item.head->args.size() != 1) {
    resolved.diagnostics.add(errors::clause_form(clause.keyword_span, "stencil",
                                                 "stencil name(u) = expression with u@k"));
    return;
  }
  Scope scope;
  const std::string argument = item.head->args[0]->text;
  scope.locals[argument].value = Value{type_of(Type::Base::Real, true), {}};
  if (clause.keyword_span.file == 0) inference.infer(*item.value, scope);
}

void check_clause(Resolved& resolved, Inference& inference, const Clause& clause) {
  if (clause.items.empty() || !declares(clause)) return;
  if (clause.keyword == "stencil") stencil(resolved, inference, clause);
  const bool runs =
      clause.keyword == "integrator" || clause.keyword == "scheme" || clause.keyword == "solver";
  if (runs) BodyCheck(resolved, clause);
}

/// The Laplacian that no stencil's text gives: -k^2 of each wave.
constexpr const char* kSpectral = "spectral";

}  // namespace

void choose_stencils(Resolved& resolved) {
  const auto chosen = resolved.symbols.find("laplacian");
  if (chosen == resolved.symbols.end() || !chosen->second.value) return;
  Symbol& symbol = chosen->second;
  const Expr& name = *symbol.value;
  const Symbol* stencil = name.kind == ExprKind::Name ? resolved.find(name.text) : nullptr;
  const bool no_name = name.kind != ExprKind::Name;
  if (!no_name && stencil == nullptr && name.text == kSpectral) return;
  if (stencil == nullptr || stencil->kind != SymbolKind::Stencil) {
    std::vector<std::string> known{kSpectral};
    for (const auto& [other, candidate] : resolved.symbols) {
      if (candidate.kind == SymbolKind::Stencil) known.push_back(other);
    }
    std::ranges::sort(known);
    const std::string found = no_name ? "an expression" : name.text;
    resolved.diagnostics.add(
        errors::option_word(name.span, "laplacian", found, suggest(name.text, known), known));
  }
}

void check_library_names(Resolved& resolved, Inference& inference) {
  for (const Line& line : resolved.model.lines) {
    if (line.kind == Line::Kind::Clause) check_clause(resolved, inference, line.clause);
  }
  for (const ModelText& text : resolved.library) {
    for (const Line& line : text.lines) {
      if (line.kind == Line::Kind::Clause) check_clause(resolved, inference, line.clause);
    }
  }
}

}  // namespace vphi::dsl
