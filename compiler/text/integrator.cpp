#include "compiler/text/integrator.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "compiler/algebra/transform.hpp"
#include "compiler/text/arithmetic.hpp"
#include "compiler/text/text_errors.hpp"
#include "dsl/model_function.hpp"

namespace vphi::text {
namespace {

using algebra::Number;
using dsl::ExprKind;

bool defines(const dsl::Clause& clause) {
  if (clause.keyword != "integrator" || clause.items.empty()) return false;
  return clause.has_body || clause.items[0].relation == dsl::Item::Relation::Equals;
}

/// Name that an `integrator` clause defines; empty where it defines none.
std::string integrator_name(const dsl::Clause& clause) {
  if (clause.items.empty()) return {};
  const dsl::Item& item = clause.items[0];
  if (item.head) return item.head->name;
  return item.value ? item.value->text : std::string();
}

/// All `integrator` clauses that define one, the model's first.
std::vector<const dsl::Clause*> all_clauses(const dsl::Resolved& resolved) {
  std::vector<const dsl::Clause*> result;
  const auto see = [&](const dsl::ModelText& text) {
    for (const dsl::Line& line : text.lines) {
      if (line.kind == dsl::Line::Kind::Clause && defines(line.clause))
        result.push_back(&line.clause);
    }
  };
  see(resolved.model);
  for (const dsl::ModelText& text : resolved.library) see(text);
  return result;
}

class IntegratorReader {
 public:
  IntegratorReader(const dsl::Resolved& resolved, dsl::Diagnostics& diagnostics)
      : resolved_(resolved), diagnostics_(diagnostics) {}

  std::optional<Integrator> named(const std::string& name, dsl::Span at, int depth = 0) {
    const auto all = all_clauses(resolved_);
    const auto found = std::ranges::find_if(
        all, [&](const dsl::Clause* c) { return integrator_name(*c) == name; });
    if (found != all.end()) return read(**found, depth);
    std::vector<std::string> known;
    for (const dsl::Clause* c : all) known.push_back(integrator_name(*c));
    return fail(errors::unknown_integrator(at, name, known));
  }

  std::optional<Integrator> read(const dsl::Clause& clause, int depth) {
    const std::string name = integrator_name(clause);
    if (clause.has_body) return plain(clause, name);
    const dsl::ExprPtr value = clause.items[0].value;
    if (value && value->kind == ExprKind::Name) return other(*value, name, depth);
    if (value && value->kind == ExprKind::Call && value->text == "compose" &&
        !value->args.empty()) {
      return composed(clause, *value, name, depth);
    }
    return fail(errors::unreadable_head(clause.keyword_span, name,
                                        "it is neither a body nor a `compose(...)`"));
  }

 private:
  std::nullopt_t fail(dsl::Diagnostic diagnostic) {
    diagnostics_.add(std::move(diagnostic));
    return std::nullopt;
  }

  std::optional<Integrator> plain(const dsl::Clause& clause, const std::string& name) {
    Integrator result;
    result.name = name;
    result.span = clause.keyword_span;
    const dsl::ExprPtr call = clause.items[0].value;
    if (!call || call->kind != ExprKind::Call) {
      return fail(
          errors::unreadable_head(clause.keyword_span, name, "there is no head in brackets"));
    }
    for (const dsl::NamedArgument& argument : call->named) {
      if (argument.name.ends_with("''")) {
        return fail(errors::unreadable_head(argument.span, name,
                                            "second derivatives are made first "
                                            "order before heads are matched"));
      }
      if (argument.name.ends_with("'")) {
        result.head.push_back({argument.name.substr(0, argument.name.size() - 1), argument.value});
      } else {
        result.options.emplace_back(argument.name, argument.value);
      }
    }
    if (clause.keyword_span.file == 0) {
      for (const auto& [function, symbol] : resolved_.symbols) {
        if (dsl::model_function(resolved_, function))
          result.functions[function] = {symbol.parameters, symbol.value};
      }
    }
    if (result.head.empty()) {
      return fail(errors::unreadable_head(call->span, name, "it has no equation"));
    }
    for (const dsl::Line& line : clause.body) {
      if (line.kind != dsl::Line::Kind::Definition || line.definition.drawn ||
          line.definition.head.form != dsl::Head::Form::Plain) {
        return fail(
            errors::cannot_evaluate(line.span, name, "a body has lines `name = value` only"));
      }
      result.body.push_back({line.definition.head.name, line.definition.value, line.span});
    }
    result.weights = {{true, {1, 1}, 1}};
    return result;
  }

  std::optional<Integrator> other(const dsl::Expr& name, const std::string& as, int depth) {
    if (depth > 16) return fail(errors::composed_of_itself(name.span, as));
    return named(name.text, name.span, depth + 1);
  }

  std::optional<Integrator> composed(const dsl::Clause& clause, const dsl::Expr& call,
                                     const std::string& name, int depth) {
    std::optional<Integrator> base = other(*call.args[0], name, depth);
    if (!base) return std::nullopt;
    std::vector<Number> weights;
    long double sum = 0;
    for (std::size_t i = 1; i < call.args.size(); ++i) {
      const std::optional<Number> weight = number(*call.args[i], clause, name);
      if (!weight) return std::nullopt;
      sum += weight->real;
      weights.push_back(*weight);
    }
    if (weights.empty() || std::abs(sum - 1) > 1e-12L) {
      return fail(errors::weights_sum(call.span, name, static_cast<double>(sum)));
    }
    Integrator result = *base;
    result.name = name;
    result.weights.clear();
    for (const Number& outer : weights) {
      for (const Number& inner : base->weights) {
        result.weights.push_back((arena_.number(outer) * arena_.number(inner))->number);
      }
    }
    return result;
  }

  std::optional<Number> number(const dsl::Expr& expr, const dsl::Clause& clause,
                               const std::string& name, int depth = 0) {
    Meaning meaning;
    meaning.name = [&](const dsl::Expr& at) {
      for (const dsl::Definition& fact : clause.where) {
        if (fact.head.name != at.text || depth > 16) continue;
        if (const auto value = number(*fact.value, clause, name, depth + 1)) {
          return scalar_value(arena_.number(*value));
        }
        throw ArithmeticError{};
      }
      throw ArithmeticError{at.span, ""};
    };
    meaning.call = [](const dsl::Expr&, Value&) { return false; };
    try {
      const auto value = algebra::constant(evaluate(expr, meaning, arena_).scalar);
      if (value) return *value;
    } catch (const ArithmeticError&) {
    }
    if (depth == 0) diagnostics_.add(errors::weight_not_number(expr.span, name));
    return std::nullopt;
  }

  const dsl::Resolved& resolved_;
  algebra::Arena arena_;  ///< of weights, until they are numbers
  dsl::Diagnostics& diagnostics_;
};

}  // namespace

std::optional<Integrator> read_integrator(const std::string& name, dsl::Span at,
                                          const dsl::Resolved& resolved,
                                          dsl::Diagnostics& diagnostics) {
  return IntegratorReader(resolved, diagnostics).named(name, at);
}

std::vector<Integrator> all_integrators(const dsl::Resolved& resolved) {
  std::vector<Integrator> result;
  for (const dsl::Clause* clause : all_clauses(resolved)) {
    dsl::Diagnostics silent;
    if (auto read = IntegratorReader(resolved, silent).read(*clause, 0))
      result.push_back(std::move(*read));
  }
  return result;
}

}  // namespace vphi::text
