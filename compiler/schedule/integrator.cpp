#include "compiler/schedule/integrator.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "compiler/algebra/transform.hpp"
#include "compiler/schedule/arithmetic.hpp"
#include "compiler/schedule/schedule_errors.hpp"
#include "dsl/model_function.hpp"

namespace vphi::schedule {
namespace {

using algebra::Expr;
using dsl::ExprKind;

bool defines(const dsl::Clause& clause) {
  if (clause.keyword != "integrator" || clause.items.empty()) return false;
  return clause.has_body || clause.items[0].relation == dsl::Item::Relation::Equals;
}

class Reader {
 public:
  Reader(const dsl::Resolved& resolved, algebra::Arena& arena, dsl::Diagnostics& diagnostics)
      : resolved_(resolved), arena_(arena), diagnostics_(diagnostics) {}

  std::optional<Integrator> read(const dsl::Clause& clause, int depth) {
    const std::string name = integrator_name(clause);
    if (clause.has_body) return plain(clause, name);
    const dsl::ExprPtr value = clause.items[0].value;
    if (value && value->kind == ExprKind::Name) return other(*value, name, depth);
    if (value && value->kind == ExprKind::Call && value->text == "compose" &&
        !value->args.empty()) {
      return composed(clause, *value, name, depth);
    }
    return fail(error::unreadable_head(clause.keyword_span, name,
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
          error::unreadable_head(clause.keyword_span, name, "there is no head in brackets"));
    }
    for (const dsl::NamedArgument& argument : call->named) {
      if (argument.name.ends_with("''")) {
        return fail(error::unreadable_head(argument.span, name,
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
        if (dsl::model_function(resolved_, function)) result.functions[function] = &symbol;
      }
    }
    if (result.head.empty()) {
      return fail(error::unreadable_head(call->span, name, "it has no equation"));
    }
    for (const dsl::Line& line : clause.body) {
      if (line.kind != dsl::Line::Kind::Definition || line.definition.drawn ||
          line.definition.head.form != dsl::Head::Form::Plain) {
        return fail(
            error::cannot_evaluate(line.span, name, "a body has lines `name = value` only"));
      }
      result.body.push_back({line.definition.head.name, line.definition.value, line.span});
    }
    result.weights = {arena_.integer(1)};
    return result;
  }

  std::optional<Integrator> other(const dsl::Expr& name, const std::string& as, int depth) {
    if (depth > 16) return fail(error::composed_of_itself(name.span, as));
    const auto all = all_integrators(resolved_);
    const auto found = std::ranges::find_if(
        all, [&](const dsl::Clause* c) { return integrator_name(*c) == name.text; });
    if (found == all.end()) {
      std::vector<std::string> known;
      for (const dsl::Clause* c : all) known.push_back(integrator_name(*c));
      return fail(error::unknown_integrator(name.span, name.text, known));
    }
    return read(**found, depth + 1);
  }

  std::optional<Integrator> composed(const dsl::Clause& clause, const dsl::Expr& call,
                                     const std::string& name, int depth) {
    std::optional<Integrator> base = other(*call.args[0], name, depth);
    if (!base) return std::nullopt;
    std::vector<Expr> weights;
    long double sum = 0;
    for (std::size_t i = 1; i < call.args.size(); ++i) {
      const std::optional<Expr> weight = number(*call.args[i], clause, name);
      if (!weight) return std::nullopt;
      sum += (*weight)->number.real;
      weights.push_back(*weight);
    }
    if (weights.empty() || std::abs(sum - 1) > 1e-12L) {
      return fail(error::weights_sum(call.span, name, static_cast<double>(sum)));
    }
    Integrator result = *base;
    result.name = name;
    result.weights.clear();
    for (Expr outer : weights) {
      for (Expr inner : base->weights) result.weights.push_back(outer * inner);
    }
    return result;
  }

  std::optional<Expr> number(const dsl::Expr& expr, const dsl::Clause& clause,
                             const std::string& name, int depth = 0) {
    Meaning meaning;
    meaning.name = [&](const dsl::Expr& at) {
      for (const dsl::Definition& fact : clause.where) {
        if (fact.head.name != at.text || depth > 16) continue;
        if (const auto value = number(*fact.value, clause, name, depth + 1)) {
          return scalar_value(*value);
        }
        throw ArithmeticError{};
      }
      throw ArithmeticError{at.span, ""};
    };
    meaning.call = [](const dsl::Expr&, Value&) { return false; };
    try {
      const auto value = algebra::constant(evaluate(expr, meaning, arena_).scalar);
      if (value) return arena_.number(*value);
    } catch (const ArithmeticError&) {
    }
    if (depth == 0) diagnostics_.add(error::weight_not_number(expr.span, name));
    return std::nullopt;
  }

  const dsl::Resolved& resolved_;
  algebra::Arena& arena_;
  dsl::Diagnostics& diagnostics_;
};

}  // namespace

std::string integrator_name(const dsl::Clause& clause) {
  if (clause.items.empty()) return {};
  const dsl::Item& item = clause.items[0];
  if (item.head) return item.head->name;
  return item.value ? item.value->text : std::string();
}

std::vector<const dsl::Clause*> all_integrators(const dsl::Resolved& resolved) {
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

std::optional<Integrator> read_integrator(const dsl::Clause& clause, const dsl::Resolved& resolved,
                                          algebra::Arena& arena, dsl::Diagnostics& diagnostics) {
  return Reader(resolved, arena, diagnostics).read(clause, 0);
}

}  // namespace vphi::schedule
