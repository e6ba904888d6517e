// Calls: functions of the model, which function of the language is meant, and its options.
#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "dsl/messages/suggest.hpp"
#include "dsl/name_errors.hpp"
#include "dsl/syntax/parse.hpp"
#include "dsl/types/constant.hpp"
#include "dsl/types/infer.hpp"
#include "dsl/types/types.hpp"
#include "program/outputs.hpp"

namespace vphi::dsl {

using Base = Type::Base;

namespace {

std::string usage_of(const Builtin& builtin) {
  static const char* const kLetters[] = {"a", "b", "c", "d"};
  std::string text(builtin.name);
  const int count = std::max(builtin.least, builtin.most);
  if (builtin.rule == Rule::OfFormula)
    return text + (count == 1 ? "(f, x = a..b)" : "(f, y, x = a..b)");
  if (count == 0) return text;
  if (builtin.most < 0) return text + "(a, b, ...)";
  if (count == 1) return text + "(u)";
  text += "(";
  for (int i = 0; i < count && i < 4; ++i) text += std::string(i > 0 ? ", " : "") + kLetters[i];
  return text + ")";
}

std::vector<std::string> words(std::string_view text) {
  std::istringstream stream{std::string(text)};
  std::vector<std::string> all;
  for (std::string word; stream >> word;) all.push_back(word);
  return all;
}

}  // namespace

Value Inference::call(const Expr& expr, const Scope& scope) {
  if (const Scope::Local* local = scope.find(expr.text)) {
    for (const ExprPtr& argument : expr.args) infer(*argument, scope);
    if (scope.inherited(&Scope::free_names)) return {};
    Symbol parameter;
    parameter.name = expr.text;
    parameter.declared = local->declared;
    report(errors::not_a_function(expr.span, parameter));
    return {};
  }
  if (const Symbol* symbol = resolved_.find(expr.text)) return user_call(expr, *symbol, scope);
  if (auto drawn = distribution(expr, scope)) return *drawn;
  if (const Builtin* builtin = find_builtin(expr.text)) {
    return builtin_call(expr, *builtin, scope);
  }
  for (const ExprPtr& argument : expr.args) infer(*argument, scope);
  if (scope.inherited(&Scope::free_names)) return {};
  std::vector<std::string> own, known;
  for (const auto& [name, symbol] : resolved_.symbols) {
    const bool function = !symbol.parameters.empty() && !symbol.indexed;
    if (function && symbol.kind == SymbolKind::Definition) own.push_back(name);
  }
  for (const Builtin& builtin : builtins()) {
    if (builtin.rule != Rule::Distribution) known.emplace_back(builtin.name);
  }
  for (const ModelText& text : resolved_.library)
    for (const Line& line : text.lines)
      if (line.kind == Line::Kind::Definition && line.definition.head.form == Head::Form::Function)
        known.push_back(line.definition.head.name);
  Span head = expr.span;
  head.end = std::min<std::uint32_t>(
      head.end, head.begin + static_cast<std::uint32_t>(
                                 expr.spelling.empty() ? expr.text.size() : expr.spelling.size()));
  static const std::map<std::string, std::string> kHabits = {
      {"laplacian", "lap"}, {"laplace", "lap"},  {"gradient", "grad"}, {"divergence", "div"},
      {"ln", "log"},        {"average", "mean"}, {"avg", "mean"},      {"real", "re"},
      {"imag", "im"},       {"trace", "tr"},     {"pow", "x^y"},       {"variance", "var"},
      {"derivative", "d"},  {"diff", "d"},       {"fabs", "abs"},      {"arcsin", "asin"},
      {"arccos", "acos"},   {"arctan", "atan"},  {"dagger", "adj"}};
  // np.sin, math.sqrt: what stands behind the dot
  if (const auto dot = expr.text.rfind('.'); dot != std::string::npos) {
    const std::string tail = expr.text.substr(dot + 1);
    if (find_builtin(tail) != nullptr) {
      report(errors::unknown_function(head, expr.text, nullptr, tail));
      return {};
    }
  }
  auto near = suggest(expr.text, own);
  const Symbol* symbol = near ? resolved_.find(*near) : nullptr;
  const auto habit = kHabits.find(expr.text);
  if (symbol == nullptr)
    near = habit != kHabits.end() ? std::optional(habit->second) : suggest(expr.text, known);
  report(errors::unknown_function(head, expr.text, symbol, near));
  return {};
}

/// `D(psi, kappa = 0.1)`: a name of the model with another value.
void Inference::named_parameter(const NamedArgument& named, const Scope& scope) {
  infer(*named.value, scope);
  if (resolved_.find(named.name) != nullptr) return;
  Expr name;
  name.kind = ExprKind::Name;
  name.text = named.name;
  name.span = named.span;
  report(unknown(name, scope));
}

/// Whether what the text of a function takes as a condition is one here. A parameter that is handed
/// on is one in the function around it too.
bool Inference::takes_conditions(const Expr& expr, const Symbol& symbol,
                                 const std::vector<Value>& arguments,
                                 const std::set<std::size_t>& indices, const Scope& scope) {
  const Called open = function_body(symbol, std::vector<Value>(symbol.parameters.size()), indices);
  bool all = true;
  for (const std::size_t i : open.conditions) {
    const Expr& argument = *expr.args[i];
    const Scope::Local* local =
        argument.kind == ExprKind::Name ? scope.find(argument.text) : nullptr;
    if (local != nullptr && local->condition != nullptr) *local->condition = true;
    const Type& type = arguments[i].type;
    if (is_unknown(type) || type.base == Base::Boolean) continue;
    report(errors::condition_wanted(
        argument.span, "the argument `" + symbol.parameters[i] + "` of `" + symbol.name + "`",
        type));
    all = false;
  }
  return all;
}

Value Inference::user_call(const Expr& expr, const Symbol& symbol, const Scope& scope) {
  std::vector<Value> arguments;
  for (const ExprPtr& argument : expr.args) arguments.push_back(infer(*argument, scope));
  for (const NamedArgument& named : expr.named) named_parameter(named, scope);
  if (symbol.kind == SymbolKind::Stencil) {
    if (arguments.size() != 1) {
      report(errors::wrong_arity(expr.span, symbol.name, symbol.name + "(u)", 1,
                                 static_cast<int>(arguments.size()), "", symbol.declared));
    }
    return arguments.empty() ? Value{} : arguments[0];
  }
  const bool function = !symbol.parameters.empty() && !symbol.indexed &&
                        (symbol.kind == SymbolKind::Definition ||
                         symbol.kind == SymbolKind::Potential || symbol.kind == SymbolKind::Action);
  if (!function) {
    report(errors::not_a_function(expr.span, symbol));
    return {};
  }
  if (arguments.size() != symbol.parameters.size()) {
    std::string usage = symbol.name + "(";
    for (std::size_t i = 0; i < symbol.parameters.size(); ++i) {
      usage += (i > 0 ? ", " : "") + symbol.parameters[i];
    }
    report(errors::wrong_arity(expr.span, symbol.name, usage + ")",
                               static_cast<int>(symbol.parameters.size()),
                               static_cast<int>(arguments.size()), "", symbol.declared));
    return {};
  }
  // an index stays an index in the function, and gets its range from what it indexes there
  std::map<std::size_t, const Expr*> indices;
  std::set<std::size_t> places;
  for (std::size_t i = 0; i < expr.args.size(); ++i) {
    const Expr& argument = *expr.args[i];
    const Expr& bare = argument.kind == ExprKind::Unary ? *argument.args[0] : argument;
    const Scope::Local* local = bare.kind == ExprKind::Name ? scope.find(bare.text) : nullptr;
    if (local == nullptr || local->index == nullptr) continue;
    indices[i] = &bare;
    places.insert(i);
  }
  if (!takes_conditions(expr, symbol, arguments, places, scope)) return {};
  const Called called = function_body(symbol, arguments, places);
  Value value = called.value;
  for (const auto& [i, name] : indices) {
    const auto range = called.ranges.find(i);
    if (range != called.ranges.end())
      use_index(*name, range->second, "`" + symbol.name + "`", scope, value);
  }
  return value;
}

bool Inference::arity(const Expr& expr, const Builtin& builtin) {
  const int count = static_cast<int>(expr.args.size());
  if (count >= builtin.least && (builtin.most < 0 || count <= builtin.most)) return true;
  const int wanted = count < builtin.least ? builtin.least : builtin.most;
  Diagnostic wrong = errors::wrong_arity(expr.span, std::string(builtin.name), usage_of(builtin),
                                         wanted, count, std::string(builtin.doc), {});
  const std::vector<std::string> known = words(builtin.options);
  if (count > wanted && builtin.rule == Rule::Distribution && !known.empty())
    wrong.hint = "what follows has a name and a value: `" + known.front() + " = ...`";
  for (std::size_t i = static_cast<std::size_t>(wanted); i < expr.args.size(); ++i)
    if (std::ranges::find(known, expr.args[i]->text) != known.end())
      wrong.hint = "an option has a name and a value: `" + expr.args[i]->text + " = ...`";
  report(wrong);
  return false;
}

namespace {

/// The entries of a list, or the expression itself.
std::vector<ExprPtr> listed(const ExprPtr& e) {
  return e->kind == ExprKind::List ? e->args : std::vector<ExprPtr>{e};
}

}  // namespace

void Inference::options(const Expr& expr, const Builtin& builtin, const Scope& scope) {
  const std::vector<std::string> known = words(builtin.options);
  const bool indices = builtin.rule == Rule::Reduce || builtin.rule == Rule::ReduceOrFold;
  const program::OutputRow* output = program::output_named(expr.text);
  const bool by_wave_number =
      output != nullptr && output->shape == program::OutputShape::WaveNumbers;
  static const std::set<std::string, std::less<>> lists{"low", "high", "every", "x", "y", "z", "t"};
  for (const NamedArgument& named : expr.named) {
    if (std::find(known.begin(), known.end(), named.name) == known.end()) {
      const bool ranged = builtin.rule == Rule::OfFormula && named.value->kind == ExprKind::Range;
      if (!indices && !ranged) {
        Diagnostic unknown = errors::option_of_function(named.span, named.name, expr.text, known);
        if (const std::string place = option_of_solver(expr, named); !place.empty())
          unknown.hint = place;
        report(std::move(unknown));
      }
      continue;
    }
    const Expr& value = *named.value;
    if (named.name == "over") {
      std::vector<std::string> axes{"time"};
      for (const auto& [name, symbol] : resolved_.symbols) {
        if (symbol.kind == SymbolKind::Swept) axes.push_back(name);
      }
      std::vector<ExprPtr> chosen = value.args;
      if (value.kind != ExprKind::List) chosen = {named.value};
      std::map<std::string, Span> first;
      for (const ExprPtr& axis : chosen) {
        const auto [place, fresh] = first.emplace(axis->text, axis->span);
        if (!fresh) report(errors::listed_twice(axis->span, axis->text, place->second));
        if (std::find(axes.begin(), axes.end(), axis->text) != axes.end()) continue;
        report(errors::option_word(axis->span, "over", to_text(*axis), suggest(axis->text, axes),
                                   axes));
      }
    } else if (named.name == "where") {
      members(value, scope);
    } else if (named.name == "bins" && by_wave_number) {
      continue;  // a word as those below
    } else if (named.name == "bins" || named.name == "order") {
      std::vector<ExprPtr> counts = value.args;  // one for each axis of a histogram
      if (value.kind != ExprKind::List) counts = {named.value};
      for (const ExprPtr& each : counts) {
        const auto count = constant_integer(resolved_, *each);
        if (!count || *count < 1) {
          report(errors::whole_number_wanted(each->span, "`" + named.name + "`", 1));
        }
      }
    } else if (lists.contains(named.name) && value.kind == ExprKind::List) {
      for (const ExprPtr& each : value.args) number(*each, scope, "`" + named.name + "`");
    } else if (named.name == "solver" || named.name == "kind" || named.name == "form" ||
               named.name == "along" || named.name == "scale" || named.name == "cross" ||
               named.name == "weights" || named.name == "hubble" || named.name == "k" ||
               named.name == "even_odd" || named.name == "time" || named.name == "centred" ||
               named.name == "turned") {
      continue;  // words; checked by the stage that uses them
    } else if (named.name == "even" || named.name == "odd") {
      if (value.kind != ExprKind::List) infer(value, scope);
      if (value.kind == ExprKind::List)
        for (const ExprPtr& each : value.args) infer(*each, scope);
    } else if (named.name == "carry") {
      for (const ExprPtr& each : listed(named.value)) {
        const Value carried = infer(*each, scope);
        if (!carried.type.per_site && !is_unknown(carried.type) && carried.free.empty())
          report(errors::scalar_in_per_site(each->span, expr.text));
      }
    } else if (named.name == "outside") {
      const bool word =
          value.kind == ExprKind::Name && (value.text == "periodic" || value.text == "clamp");
      if (!word) infer(value, scope);
    } else {
      number(value, scope, "`" + named.name + "`");
    }
  }
}

Value Inference::site_number(const Expr& expr) {
  const Expr& axis = *expr.args[0];
  if (dimensions() == 0) {
    report_no_lattice(expr.span, "`index`");
  } else if (axis.kind != ExprKind::Name || !is_axis(axis.text)) {
    Diagnostic no_axis = errors::shift_operand(axis.span, to_text(axis), dimensions());
    no_axis.rule = "index(x) is the number of a site along an axis, from 0";
    no_axis.hint =
        "name an axis of the lattice; directions are compared with numbers, (1 if mu < 2 else 2)";
    report(std::move(no_axis));
  }
  return {type_of(Base::Integer, true), {}};
}

/// table("file", x, ...) or file("file")[i, ...].
Value Inference::values_of_file(const Expr& expr, bool table, const Scope& scope) {
  Value value{type_of(table ? Base::Real : Base::Unknown), {}};
  if (expr.args[0]->kind != ExprKind::String) {
    report(errors::argument_type(
        expr.args[0]->span, expr.text, "the name of a file first", infer(*expr.args[0], scope).type,
        "write " + expr.text + "(\"file.h5:set\"" + (table ? ", ...)" : ")")));
  }
  std::size_t first = 1;  // nested tables: more names of files
  while (table && first < expr.args.size() && expr.args[first]->kind == ExprKind::String) ++first;
  for (std::size_t i = first; i < expr.args.size(); ++i) {
    const Value argument = infer(*expr.args[i], scope);
    if (!is_unknown(argument.type) && !is_real(argument.type)) {
      report(errors::argument_type(expr.args[i]->span, expr.text, "real numbers", argument.type,
                                   "give it a real expression"));
    }
    value = join(value, argument);
  }
  return value;
}

/// inverse(f, y, x = a..b) and its like: x is a number, in f alone.
Value Inference::of_formula(const Expr& expr, const Builtin& builtin, const Scope& scope) {
  Value value{type_of(Base::Real), {}};
  const auto add = [&](const Expr& part, const Scope& where, const std::string& place) {
    const Value found = infer(part, where);
    if (!is_unknown(found.type) && !is_real(found.type))
      report(errors::number_wanted(part.span, place, found.type));
    value = join(value, found);
  };
  Scope inner;
  inner.outer = &scope;
  const std::vector<std::string> known = words(builtin.options);
  for (const NamedArgument& named : expr.named) {
    const Expr& range = *named.value;
    if (range.kind != ExprKind::Range || std::ranges::find(known, named.name) != known.end())
      continue;
    if (!inner.locals.empty()) report(errors::formula_of_one_name(named.span, expr.text));
    inner.locals[named.name] = {Value{type_of(Base::Real), {}}, nullptr, named.span};
    for (const ExprPtr& end : range.args) add(*end, scope, "the end of a range");
  }
  if (inner.locals.empty()) {
    report(errors::formula_of_one_name(expr.span, expr.text));
    return value;
  }
  add(*expr.args[0], inner, "the formula of `" + expr.text + "`");
  if (expr.args.size() > 1) add(*expr.args[1], scope, "the argument of `" + expr.text + "`");
  return value;
}

/// `where = condition` or `where = ranked(number, 0.95..1)`, of each instance of a sweep.
void Inference::members(const Expr& where, const Scope& scope) {
  if (where.kind != ExprKind::Call || where.text != "ranked") {
    condition(where, scope, "`where`");
    return;
  }
  const bool ranged = where.args.size() == 2 && where.args[1]->kind == ExprKind::Range &&
                      where.args[1]->args.size() == 2;
  if (!ranged || where.args[0]->kind == ExprKind::String) {
    report(errors::clause_form(where.span, "where", "where = ranked(N_part, 0.95..1)"));
    return;
  }
  number(*where.args[0], scope, "what instances are ranked by");
  for (const ExprPtr& end : where.args[1]->args) number(*end, scope, "a share of the instances");
}

/// linspace(first, last, number) and logspace, ranked("name.h5:set", a..b).
Value Inference::sweep_values(const Expr& expr, const Scope& scope) {
  if (expr.args.size() == 2) {
    const bool ranged = expr.args[1]->kind == ExprKind::Range && expr.args[1]->args.size() == 2;
    for (std::size_t i = 0; ranged && i < 2; ++i)
      number(*expr.args[1]->args[i], scope, "a share of the members");
    if (expr.args[0]->kind != ExprKind::String || !ranged)
      report(
          errors::clause_form(expr.span, "sweep",
                              "sweep event = ranked(\"name.h5:set\", 0.95..1); by a number of "
                              "the same run: mean(x, over = event, where = ranked(n, 0.95..1))"));
    return {type_of(Base::Real), {}};
  }
  number(*expr.args[0], scope, "the first value");
  number(*expr.args[1], scope, "the last value");
  const auto count = constant_integer(resolved_, *expr.args[2]);
  if (!count || *count < 1) {
    report(errors::whole_number_wanted(expr.args[2]->span, "the number of values", 1));
  }
  return {type_of(Base::Real), {}};
}

Value Inference::builtin_call(const Expr& expr, const Builtin& builtin, const Scope& scope) {
  if (!arity(expr, builtin)) return {};
  const bool reduction = builtin.rule == Rule::Reduce || builtin.rule == Rule::ReduceOrFold;
  if (builtin.rule == Rule::Adjoint && expr.args.size() == 2) return adjoint_applied(expr, scope);
  if (!reduction && builtin.rule != Rule::Determinant) options(expr, builtin, scope);
  switch (builtin.rule) {
    case Rule::RealFunction:
    case Rule::RealOnly:
    case Rule::RealPart:
    case Rule::Conjugate:
    case Rule::Norm:
      return elementary(expr, builtin, scope);
    case Rule::Dot:
    case Rule::Cross:
    case Rule::Outer:
    case Rule::Trace:
    case Rule::Adjoint:
    case Rule::GroupProjection:
      return linear_algebra(expr, builtin, scope);
    case Rule::Keep:
    case Rule::Gradient:
    case Rule::Divergence:
    case Rule::Curl:
    case Rule::SumOfNeighbours:
    case Rule::TransverseTraceless:
      return lattice_operator(expr, builtin, scope);
    case Rule::Derivative:
      return derivative(expr, scope);
    case Rule::Reduce:
    case Rule::ReduceOrFold:
      return reduce(expr, builtin, scope);
    case Rule::Fold:
      return fold(expr, builtin, scope);
    case Rule::PathProduct:
      return path_product(expr, builtin, scope);
    case Rule::Colours:
      return colours(expr);
    case Rule::UnitSpinor: {
      Value value{type_of(Base::Spinor), {}};
      for (std::size_t i = 0; i < 2; ++i) {
        use_index(*expr.args[i], component_of_spinor(i), "`spinor`", scope, value);
      }
      return value;
    }
    case Rule::Determinant:
      return determinant(expr, scope);
    case Rule::Solve:
      return solve(expr, scope);
    case Rule::OfSolve:
      return of_solve(expr, scope);
    case Rule::Quantifier: {
      Value value = condition(*expr.args[0], scope, "the argument of `" + expr.text + "`");
      value.type = type_of(Base::Boolean);
      return value;
    }
    case Rule::First: {
      Value value = infer(*expr.args[0], scope);
      condition(*expr.args[1], scope, "the second argument of `first`");
      return value;
    }
    case Rule::SiteNumber:
      return site_number(expr);
    case Rule::Table:
    case Rule::File:
      return values_of_file(expr, builtin.rule == Rule::Table, scope);
    case Rule::OfFormula:
      return of_formula(expr, builtin, scope);
    case Rule::Output:
      if (scope.inherited(&Scope::drawn)) {
        report(errors::output_at_start(expr.span, expr.text));
      } else {
        report(errors::stands_alone(expr.span, expr.text, "`every` or `at end`"));
      }
      return {};
    case Rule::Promise:
      report(errors::stands_alone(expr.span, expr.text, "`expect`"));
      return {};
    case Rule::SweepValues:
      return sweep_values(expr, scope);
    case Rule::Distribution:
      return {};
  }
  return {};
}

// ---- items that stand alone -------------------------------------------------------------------

void Inference::output(const Expr& call, const Scope& scope) {
  const Builtin* builtin = find_builtin(call.text);
  if (builtin == nullptr || !arity(call, *builtin)) return;
  options(call, *builtin, scope);
  const program::OutputRow* row = program::output_named(call.text);
  if (row == nullptr) return;
  const bool histogram = row->arrays == program::OutputArrays::Counted;
  const bool bodies =
      row->arrays == program::OutputArrays::Whole && resolved_.clause("particles") != nullptr;
  if (!histogram && !bodies && resolved_.clause("lattice") == nullptr) {
    report_no_lattice(call.span, "`" + call.text + "`");
    return;
  }
  for (const NamedArgument& named : call.named) {
    const bool axis = row->axis == program::OutputAxis::Across && !is_axis(named.name) &&
                      (named.name == "x" || named.name == "y" || named.name == "z");
    if (axis) report(errors::axis_missing(named.span, named.name, dimensions()));
  }
  for (const ExprPtr& argument : call.args) {
    const Value value = infer(*argument, scope);
    const bool many = value.type.per_site || !value.free.empty();
    if (!many && !histogram && !is_unknown(value.type)) {
      report(errors::scalar_in_per_site(argument->span, call.text));
    }
    if (histogram && !is_unknown(value.type) && !is_real(value.type)) {
      report(errors::number_wanted(argument->span, "what a histogram counts", value.type));
    }
  }
}

void Inference::promise(const Expr& call, const Scope& scope) {
  const Builtin* builtin = find_builtin(call.text);
  if (builtin == nullptr || !arity(call, *builtin)) return;
  options(call, *builtin, scope);
  for (const ExprPtr& argument : call.args) {
    const Value value = infer(*argument, scope);
    if (is_unknown(value.type)) continue;
    const bool many = value.type.per_site || !value.free.empty();
    if (call.text == "drift" && many) {
      report(errors::per_site_in_scalar(argument->span, to_text(*argument),
                                        "the argument of `drift`"));
    } else if (call.text == "conserved" && !many) {
      report(errors::scalar_in_per_site(argument->span, call.text));
    }
  }
}

}  // namespace vphi::dsl
