// `solve(A, b, solver = cg(1e-12))`: the types of a linear system, its residual and its number of
// iterations.
#include <algorithm>

#include "dsl/messages/suggest.hpp"
#include "dsl/name_errors.hpp"
#include "dsl/syntax/parse.hpp"
#include "dsl/types/infer.hpp"
#include "dsl/types/types.hpp"
#include "dsl/words/builtins.hpp"

namespace vphi::dsl {

using Base = Type::Base;

namespace {

/// Names of the options in the head of a solver, `name = value`, in order.
std::vector<std::string> options_of(const Symbol& solver) {
  std::vector<std::string> names;
  if (!solver.value || solver.value->kind != ExprKind::Call) return names;
  for (const NamedArgument& named : solver.value->named) {
    if (named.name.find_first_of("'(") == std::string::npos) names.push_back(named.name);
  }
  return names;
}

/// Rounds and residual are those of any system, the others those of an action.
bool of_system(const Expr& expr) { return expr.text == "iterations" || expr.text == "residual"; }

/// Links that a definition turns to a gauge, named without their direction.
bool finds_gauge(const Symbol& symbol) {
  if (symbol.kind != SymbolKind::Definition || !symbol.indexed || !symbol.value) return false;
  const Expr& value = *symbol.value;
  const Builtin* builtin = value.kind == ExprKind::Call ? find_builtin(value.text) : nullptr;
  return builtin != nullptr && builtin->rule == Rule::GroupProjection && builtin->most == 2;
}

}  // namespace

Value Inference::solve(const Expr& expr, const Scope& scope) {
  const Expr& op = *expr.args[0];
  const Value b = infer(*expr.args[1], scope);
  const Symbol* symbol = op.kind == ExprKind::Name ? resolved_.find(op.text) : nullptr;
  const bool function = symbol != nullptr && symbol->kind == SymbolKind::Definition &&
                        symbol->parameters.size() == 1 && !symbol->indexed;
  for (const NamedArgument& named : expr.named) {
    if (named.name == "solver") solver(*named.value, scope);
  }
  if (!function) {
    if (op.kind == ExprKind::Name && symbol == nullptr) {
      report(unknown(op, scope));
    } else {
      report(errors::argument_type(op.span, "solve", "the name of a function of one field",
                                   symbol != nullptr ? symbol->type : infer(op, scope).type,
                                   "define A(u) = ... and write solve(A, b)"));
    }
    return {};
  }
  resolved_.types[&op] = type_of(Base::Operator);
  Value x = b;
  x.type.per_site = true;
  const bool whole_number = x.type.base == Base::Integer || x.type.base == Base::Boolean;
  if (whole_number) x.type.base = Base::Real;
  const Value image = function_body(*symbol, {x}).value;
  if (is_unknown(image.type) || is_unknown(x.type)) return x;
  // a real source of a complex operator has a complex solution
  if (is_scalar(x.type) && image.type.base == Base::Complex) x.type.base = Base::Complex;
  const bool fits = is_scalar(x.type)
                        ? is_scalar(image.type)
                        : x.type.base == image.type.base && x.type.rows == image.type.rows &&
                              x.type.columns == image.type.columns;
  if (!fits) {
    report(errors::argument_type(
        op.span, "solve",
        "a function whose value is of the type of its argument, " + to_string(x.type), image.type,
        "A maps a field to one of the same kind"));
  }
  return x;
}

void Inference::solver(const Expr& expr, const Scope& scope) {
  const bool named = expr.kind == ExprKind::Name || expr.kind == ExprKind::Call;
  const Symbol* symbol = named ? resolved_.find(expr.text) : nullptr;
  if (symbol == nullptr || symbol->kind != SymbolKind::Solver) {
    std::vector<std::string> known;
    for (const auto& [name, candidate] : resolved_.symbols) {
      if (candidate.kind == SymbolKind::Solver) known.push_back(name);
    }
    report(errors::option_word(expr.span, "solver", named ? expr.text : "an expression",
                               suggest(expr.text, known), known));
    return;
  }
  const std::vector<std::string> known = options_of(*symbol);
  for (const ExprPtr& argument : expr.args) number(*argument, scope, "an option of a solver");
  if (expr.args.size() > known.size()) {
    std::string usage = symbol->name + "(";
    for (std::size_t i = 0; i < known.size(); ++i) usage += (i > 0 ? ", " : "") + known[i];
    report(errors::wrong_arity(expr.span, symbol->name, usage + ")", static_cast<int>(known.size()),
                               static_cast<int>(expr.args.size()), "", symbol->declared));
  }
  for (const NamedArgument& option : expr.named) {
    if (option.name == "inner") {
      const std::vector<std::string> words{"f32"};
      if (option.value->kind != ExprKind::Name || option.value->text != "f32")
        report(
            errors::option_word(option.value->span, "inner", to_text(*option.value), "f32", words));
      continue;
    }
    number(*option.value, scope, "`" + option.name + "`");
    if (std::find(known.begin(), known.end(), option.name) != known.end()) continue;
    report(errors::option_of_function(option.span, option.name, symbol->name, known));
  }
}

std::string Inference::option_of_solver(const Expr& call, const NamedArgument& option) const {
  for (const NamedArgument& other : call.named) {
    const Symbol* solver = other.name == "solver" ? resolved_.find(other.value->text) : nullptr;
    if (solver == nullptr || solver->kind != SymbolKind::Solver) continue;
    const std::vector<std::string> known = options_of(*solver);
    if (option.name != "inner" && std::ranges::find(known, option.name) == known.end()) continue;
    Expr with = *other.value;
    with.kind = ExprKind::Call;
    with.named.push_back(option);
    return "an option of the solver stands in its call: solver = " + to_text(with);
  }
  return {};
}

Value Inference::of_solve(const Expr& expr, const Scope& scope) {
  const Expr& of = *expr.args[0];
  Value value{type_of(expr.text == "iterations" ? Base::Integer : Base::Real), {}};
  const bool name = of.kind == ExprKind::Name && scope.find(of.text) == nullptr;
  const Symbol* symbol = name ? resolved_.find(of.text) : nullptr;
  if (symbol != nullptr && finds_gauge(*symbol) && of_system(expr)) return value;
  const Value x = infer(of, scope);
  if (symbol != nullptr && symbol->kind == SymbolKind::Action) return value;
  if (is_unknown(x.type)) return value;
  if (!of_system(expr)) {
    report(errors::argument_type(of.span, expr.text, "the name of an action", x.type,
                                 "give it the action of a level, as in " + expr.text + "(S)"));
  } else if (!x.type.per_site) {
    report(errors::argument_type(of.span, expr.text, "what `solve` has given, or an action", x.type,
                                 "give it the field, as in " + expr.text + "(phi)"));
  }
  return value;
}

}  // namespace vphi::dsl
