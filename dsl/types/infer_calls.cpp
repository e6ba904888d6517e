// Calls: functions of the model and of the language, one method for each family of rules.
#include <algorithm>
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

Value join(Value a, const Value& b) {
  a.free.insert(b.free.begin(), b.free.end());
  a.type.per_site = a.type.per_site || b.type.per_site;
  return a;
}

Value with_type(const Value& value, Type type) {
  type.per_site = value.type.per_site;
  return {type, value.free};
}

}  // namespace

Value Inference::call(const Expr& expr, const Scope& scope) {
  if (const Scope::Local* local = scope.find(expr.text)) {
    for (const ExprPtr& argument : expr.args) infer(*argument, scope);
    if (scope.inherited(&Scope::free_names)) return {};
    Symbol parameter;
    parameter.name = expr.text;
    parameter.declared = local->declared;
    report(error::not_a_function(expr.span, parameter));
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
  Span head = expr.span;
  head.end = std::min<std::uint32_t>(
      head.end, head.begin + static_cast<std::uint32_t>(
                                 expr.spelling.empty() ? expr.text.size() : expr.spelling.size()));
  static const std::map<std::string, std::string> kHabits = {
      {"laplacian", "lap"}, {"laplace", "lap"},  {"gradient", "grad"}, {"divergence", "div"},
      {"ln", "log"},        {"average", "mean"}, {"avg", "mean"},      {"real", "re"},
      {"imag", "im"},       {"trace", "tr"},     {"pow", "x^y"},       {"variance", "var"},
      {"derivative", "d"},  {"diff", "d"},       {"fabs", "abs"},      {"integral", "total"},
      {"arcsin", "asin"},   {"arccos", "acos"},  {"arctan", "atan"},   {"dagger", "adj"}};
  // np.sin, math.sqrt: what stands behind the dot
  if (const auto dot = expr.text.rfind('.'); dot != std::string::npos) {
    const std::string tail = expr.text.substr(dot + 1);
    if (find_builtin(tail) != nullptr) {
      report(error::unknown_function(head, expr.text, nullptr, tail));
      return {};
    }
  }
  auto near = suggest(expr.text, own);
  const Symbol* symbol = near ? resolved_.find(*near) : nullptr;
  const auto habit = kHabits.find(expr.text);
  if (symbol == nullptr)
    near = habit != kHabits.end() ? std::optional(habit->second) : suggest(expr.text, known);
  report(error::unknown_function(head, expr.text, symbol, near));
  return {};
}

Value Inference::user_call(const Expr& expr, const Symbol& symbol, const Scope& scope) {
  std::vector<Value> arguments;
  for (const ExprPtr& argument : expr.args) arguments.push_back(infer(*argument, scope));
  for (const NamedArgument& named : expr.named) {
    infer(*named.value, scope);
    if (resolved_.find(named.name) != nullptr) continue;
    Expr name;
    name.kind = ExprKind::Name;
    name.text = named.name;
    name.span = named.span;
    report(unknown(name, scope));
  }
  if (symbol.kind == SymbolKind::Stencil) {
    if (arguments.size() != 1) {
      report(error::wrong_arity(expr.span, symbol.name, symbol.name + "(u)", 1,
                                static_cast<int>(arguments.size()), "", symbol.declared));
    }
    return arguments.empty() ? Value{} : arguments[0];
  }
  const bool function = !symbol.parameters.empty() && !symbol.indexed &&
                        (symbol.kind == SymbolKind::Definition ||
                         symbol.kind == SymbolKind::Potential || symbol.kind == SymbolKind::Action);
  if (!function) {
    report(error::not_a_function(expr.span, symbol));
    return {};
  }
  if (arguments.size() != symbol.parameters.size()) {
    std::string usage = symbol.name + "(";
    for (std::size_t i = 0; i < symbol.parameters.size(); ++i) {
      usage += (i > 0 ? ", " : "") + symbol.parameters[i];
    }
    report(error::wrong_arity(expr.span, symbol.name, usage + ")",
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
  report(error::wrong_arity(expr.span, std::string(builtin.name), usage_of(builtin), wanted, count,
                            std::string(builtin.doc), {}));
  return false;
}

void Inference::options(const Expr& expr, const Builtin& builtin, const Scope& scope) {
  const std::vector<std::string> known = words(builtin.options);
  const bool indices = builtin.rule == Rule::Reduce || builtin.rule == Rule::ReduceOrFold;
  for (const NamedArgument& named : expr.named) {
    if (std::find(known.begin(), known.end(), named.name) == known.end()) {
      if (!indices) {
        report(error::option_of_function(named.span, named.name, expr.text, known));
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
      for (const ExprPtr& axis : chosen) {
        if (std::find(axes.begin(), axes.end(), axis->text) != axes.end()) continue;
        report(error::option_word(axis->span, "over", to_text(*axis), suggest(axis->text, axes),
                                  axes));
      }
    } else if (named.name == "bins" || named.name == "order") {
      std::vector<ExprPtr> counts = value.args;  // one for each axis of a histogram
      if (value.kind != ExprKind::List) counts = {named.value};
      for (const ExprPtr& each : counts) {
        const auto count = constant_integer(resolved_, *each);
        if (!count || *count < 1) {
          report(error::whole_number_wanted(each->span, "`" + named.name + "`", 1));
        }
      }
    } else if ((named.name == "low" || named.name == "high") && value.kind == ExprKind::List) {
      for (const ExprPtr& each : value.args) number(*each, scope, "`" + named.name + "`");
    } else if (named.name == "solver" || named.name == "kind" || named.name == "form" ||
               named.name == "along" || named.name == "scale" || named.name == "cross" ||
               named.name == "weights" || named.name == "hubble" || named.name == "k" ||
               named.name == "even_odd") {
      continue;  // words; checked by the stage that uses them
    } else if (named.name == "even" || named.name == "odd") {
      if (value.kind != ExprKind::List) infer(value, scope);
      if (value.kind == ExprKind::List)
        for (const ExprPtr& each : value.args) infer(*each, scope);
    } else if (named.name == "outside") {
      const bool word =
          value.kind == ExprKind::Name && (value.text == "periodic" || value.text == "clamp");
      if (!word) infer(value, scope);
    } else {
      number(value, scope, "`" + named.name + "`");
    }
  }
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
      return linear_algebra(expr, builtin, scope);
    case Rule::Keep:
    case Rule::Gradient:
    case Rule::Divergence:
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
    case Rule::SiteNumber: {
      const Expr& axis = *expr.args[0];
      if (dimensions() == 0) {
        report_no_lattice(expr.span, "`index`");
      } else if (axis.kind != ExprKind::Name || !is_axis(axis.text)) {
        report(error::shift_operand(axis.span, to_text(axis), dimensions()));
      }
      return {type_of(Base::Integer, true), {}};
    }
    case Rule::Table:
    case Rule::File: {
      Value value{type_of(builtin.rule == Rule::Table ? Base::Real : Base::Unknown), {}};
      if (expr.args[0]->kind != ExprKind::String) {
        report(error::argument_type(expr.args[0]->span, expr.text, "the name of a file first",
                                    infer(*expr.args[0], scope).type,
                                    "write " + expr.text + "(\"file.h5:set\"" +
                                        (builtin.rule == Rule::Table ? ", ...)" : ")")));
      }
      std::size_t first = 1;  // nested tables: more names of files
      while (builtin.rule == Rule::Table && first < expr.args.size() &&
             expr.args[first]->kind == ExprKind::String) {
        ++first;
      }
      for (std::size_t i = first; i < expr.args.size(); ++i) {
        const Value argument = infer(*expr.args[i], scope);
        if (!is_unknown(argument.type) && !is_real(argument.type)) {
          report(error::argument_type(expr.args[i]->span, expr.text, "real numbers", argument.type,
                                      "give it a real expression"));
        }
        value = join(value, argument);
      }
      return value;
    }
    case Rule::Output:
      if (scope.inherited(&Scope::drawn)) {
        report(error::output_at_start(expr.span, expr.text));
      } else {
        report(error::stands_alone(expr.span, expr.text, "`every` or `at end`"));
      }
      return {};
    case Rule::Promise:
      report(error::stands_alone(expr.span, expr.text, "`expect`"));
      return {};
    case Rule::SweepValues: {
      number(*expr.args[0], scope, "the first value");
      number(*expr.args[1], scope, "the last value");
      const auto count = constant_integer(resolved_, *expr.args[2]);
      if (!count || *count < 1) {
        report(error::whole_number_wanted(expr.args[2]->span, "the number of values", 1));
      }
      return {type_of(Base::Real), {}};
    }
    case Rule::Distribution:
      return {};
  }
  return {};
}

// ---- numbers, vectors, matrices ---------------------------------------------------------------

Value Inference::elementary(const Expr& expr, const Builtin& builtin, const Scope& scope) {
  Value all;
  for (std::size_t i = 0; i < expr.args.size(); ++i) {
    const Expr& argument = *expr.args[i];
    const Value value = infer(argument, scope);
    all = i == 0 ? value : join(all, value);
    const Type& type = value.type;
    if (is_unknown(type)) continue;
    const bool vector = type.base == Base::Vector;
    if (builtin.rule == Rule::Norm) {
      if (expr.text == "abs" && !is_scalar(type) && type.base != Base::Group) {
        report(error::argument_type(
            argument.span, "abs", "a number", type,
            component_of_each(argument, scope, "for the length of a vector write norm(v)")));
      }
    } else if (builtin.rule == Rule::RealPart || builtin.rule == Rule::Conjugate) {
      if (!is_scalar(type) && !vector && type.base != Base::Group && type.base != Base::Matrix) {
        report(error::argument_type(argument.span, expr.text, "a number", type,
                                    "take a component or a trace first"));
      }
      if (type.base == Base::Group && type.rows > 1 && builtin.rule == Rule::RealPart) {
        report(error::argument_type(argument.span, expr.text, "a number", type,
                                    "take the trace first: re(tr(U))"));
      }
    } else if (!is_scalar(type) || (builtin.rule == Rule::RealOnly && !is_real(type))) {
      if (type.base == Base::Complex) {
        report(
            error::complex_in_real_place(argument.span, "the argument of `" + expr.text + "`", {}));
      } else {
        report(error::argument_type(
            argument.span, expr.text, "a number", type,
            component_of_each(argument, scope,
                              "apply it to a component, v[k], or to a length, norm(v)")));
      }
    }
  }
  Type type = all.type;
  if (builtin.rule == Rule::RealOnly) return with_type(all, type_of(Base::Real));
  if (is_unknown(type) && builtin.rule != Rule::Norm && builtin.rule != Rule::RealPart) return all;
  switch (builtin.rule) {
    case Rule::Norm:
      type = type_of(Base::Real);
      break;
    case Rule::RealPart:
      type = type.base == Base::Vector ? vector_of(type.rows) : type_of(Base::Real);
      break;
    case Rule::Conjugate:
      break;
    default:
      type = type_of(type.base == Base::Complex ? Base::Complex : Base::Real);
  }
  return with_type(all, type);
}

Value Inference::linear_algebra(const Expr& expr, const Builtin& builtin, const Scope& scope) {
  const Value a = infer(*expr.args[0], scope);
  const Value b = expr.args.size() > 1 ? infer(*expr.args[1], scope) : Value{};
  Value all = expr.args.size() > 1 ? join(a, b) : a;
  const bool open = is_unknown(a.type) || (expr.args.size() > 1 && is_unknown(b.type));
  if (open) return with_type(all, Type{});
  const auto wrong = [&](std::size_t i, const std::string& wanted, const std::string& hint) {
    report(error::argument_type(expr.args[i]->span, expr.text, wanted, i == 0 ? a.type : b.type,
                                hint));
    return with_type(all, Type{});
  };
  const bool square = a.type.base == Base::Group || a.type.base == Base::Matrix ||
                      a.type.base == Base::Symmetric || a.type.base == Base::Operator;
  if (builtin.rule == Rule::Trace || builtin.rule == Rule::Adjoint) {
    if (!square) return wrong(0, "a matrix", "for a number write re or conj");
    if (builtin.rule == Rule::Adjoint) return a;
    return with_type(all, type_of(is_complex(a.type) ? Base::Complex : Base::Real));
  }
  if (builtin.rule == Rule::Dot && a.type.base == Base::Spinor && b.type.base == Base::Spinor) {
    return with_type(all, type_of(Base::Complex));
  }
  const std::string hint = "write a * b for numbers";
  if (a.type.base != Base::Vector) return wrong(0, "vectors", hint);
  if (b.type.base != Base::Vector) return wrong(1, "vectors", hint);
  if (builtin.rule != Rule::Outer && a.type.rows != b.type.rows) {
    report(error::operand_types(expr.span, expr.text, a.type, b.type));
    return with_type(all, Type{});
  }
  const bool complex = a.type.complex || b.type.complex;
  if (builtin.rule == Rule::Dot) {
    return with_type(all, type_of(complex ? Base::Complex : Base::Real));
  }
  if (builtin.rule == Rule::Cross) {
    if (a.type.rows != 3) return wrong(0, "vectors of 3 components", "use dot or outer");
    return with_type(all, vector_of(3, complex));
  }
  const bool same = to_text(*expr.args[0]) == to_text(*expr.args[1]) && !complex;
  Type matrix = type_of(same ? Base::Symmetric : Base::Matrix);
  matrix.rows = a.type.rows;
  matrix.columns = b.type.rows;
  matrix.complex = complex;
  return with_type(all, matrix);
}

// ---- lattice ----------------------------------------------------------------------------------

Value Inference::lattice_operator(const Expr& expr, const Builtin& builtin, const Scope& scope) {
  const Expr& argument = *expr.args[0];
  const bool product = argument.kind == ExprKind::Binary && argument.text == "*";
  const bool divergence = builtin.rule == Rule::Divergence;
  Value value = divergence && product ? binary(argument, scope, true) : infer(argument, scope);
  if (divergence && product) set(argument, value);
  const bool library = scope.inherited(&Scope::free_names);
  if (dimensions() == 0 && !library) {
    report_no_lattice(expr.span, "`" + expr.text + "`");
    return {};
  }
  const Type type = value.type;
  if (is_unknown(type)) return value;
  if (!type.per_site && !library) {
    report(error::scalar_in_per_site(argument.span, expr.text));
    return {};
  }
  const int dims = dimensions();
  if (builtin.rule == Rule::Gradient) {
    if (is_scalar(type)) {
      const bool complex = type.base == Base::Complex;
      return with_type(value, vector_of(dims, complex));
    }
    if (type.base == Base::Vector) {
      Type matrix = type_of(Base::Matrix);
      matrix.rows = type.rows;
      matrix.columns = dims;
      matrix.complex = type.complex;
      return with_type(value, matrix);
    }
    report(error::argument_type(argument.span, "grad", "a number or a vector at each site", type,
                                "take a component first"));
    return {};
  }
  if (divergence) {
    const int last = type.base == Base::Matrix ? type.columns : type.rows;
    const bool tensor = type.base == Base::Matrix || type.base == Base::Symmetric;
    if ((type.base != Base::Vector && !tensor) || last != dims) {
      report(error::argument_type(
          argument.span, "div",
          "a vector of " + std::to_string(dims) + (dims == 1 ? " component" : " components"), type,
          "the components are the axes of the lattice; for a scalar write grad(u)"));
      return {};
    }
    if (tensor) return with_type(value, vector_of(type.rows, type.complex));
    return with_type(value, type_of(type.complex ? Base::Complex : Base::Real));
  }
  if (builtin.rule == Rule::TransverseTraceless && type.base != Base::Symmetric) {
    report(error::argument_type(argument.span, expr.text, "a symmetric tensor, sym(3)", type,
                                "declare it `field u: sym(3)`"));
    return {};
  }
  if (type.base == Base::Boolean) return with_type(value, type_of(Base::Integer));
  return value;
}

Value Inference::derivative(const Expr& expr, const Scope& scope) {
  const Value f = infer(*expr.args[0], scope);
  const Expr& by = *expr.args[1];
  const Expr& variable =
      by.kind == ExprKind::Call && by.text == "conj" && by.args.size() == 1 ? *by.args[0] : by;
  if (by.kind == ExprKind::Name) {
    const Scope::Local* local = scope.find(by.text);
    const bool index = local != nullptr && local->index != nullptr;
    const Symbol* symbol = resolved_.find(by.text);
    const bool axis =
        local == nullptr && is_axis(by.text) && (symbol == nullptr || symbol->origin == "lattice");
    if (index || axis) {  // along an axis: the lattice derivative
      use_direction(by, scope);
      if (!is_unknown(f.type) && !f.type.per_site && !scope.inherited(&Scope::free_names)) {
        report(error::scalar_in_per_site(expr.args[0]->span, "d"));
      }
      return f;
    }
  }
  const bool place = variable.kind == ExprKind::Name || variable.kind == ExprKind::Index ||
                     variable.kind == ExprKind::Prime || variable.kind == ExprKind::Shift;
  if (!place) {
    report(error::derivative_by(by.span, to_text(by)));
    return {};
  }
  if (variable.kind == ExprKind::Name && scope.find(variable.text) == nullptr) {
    const Symbol* links = resolved_.find(variable.text);
    if (links != nullptr && links->kind == SymbolKind::Gauge && links->type.base == Base::Group) {
      Value all = f;  // by all links, each in its own equation
      all.type.per_site = true;
      return with_type(all, Type{});
    }
  }
  const Value x = infer(variable, scope);
  Value result = join(f, x);
  if (is_unknown(f.type) || is_unknown(x.type)) return with_type(result, Type{});
  // The derivative of a number has the shape of the variable, that of anything else by a number
  // its own shape.
  if (is_scalar(f.type) && !is_scalar(x.type)) {
    if (x.type.base == Base::Group) return with_type(result, Type{});
    return with_type(result, x.type);
  }
  if (!is_scalar(f.type) && !is_scalar(x.type)) return with_type(result, Type{});
  Type type = f.type;
  if (is_scalar(type)) {
    const bool complex = type.base == Base::Complex || x.type.base == Base::Complex;
    type = type_of(complex ? Base::Complex : Base::Real);
  }
  return with_type(result, type);
}

// ---- gauge fields and fermions ----------------------------------------------------------------

Value Inference::path_product(const Expr& expr, const Builtin& builtin, const Scope& scope) {
  const Symbol* links = nullptr;
  for (const auto& [name, symbol] : resolved_.symbols) {
    const bool group = symbol.kind == SymbolKind::Gauge && symbol.type.base == Base::Group;
    if (group) links = &symbol;
  }
  const bool meant = resolved_.clause("gauge") != nullptr;  // its type is refused already
  if (links == nullptr && !meant) {
    report(error::no_gauge_field(expr.span, std::string(builtin.name)));
    return {};
  }
  for (const ExprPtr& step : expr.args) {
    // 3*mu: three steps
    const bool many = step->kind == ExprKind::Binary && step->text == "*";
    if (many) number(*step->args[0], scope, "the number of steps");
    if (!use_direction(many ? *step->args[1] : *step, scope)) {
      report(error::shift_operand(step->span, to_text(*step), dimensions()));
    }
  }
  if (links == nullptr) return {};
  Value value{links->type, {}};
  value.type.per_site = true;
  return value;
}

/// Whether `op` is the name of a function of one spinor; its options are names of the model.
void Inference::operator_name(const Expr& expr, const Scope& scope) {
  const Expr& op = *expr.args[0];
  const Symbol* symbol = op.kind == ExprKind::Name ? resolved_.find(op.text) : nullptr;
  const bool function = symbol != nullptr && symbol->kind == SymbolKind::Definition &&
                        symbol->parameters.size() == 1 && !symbol->indexed;
  if (!function) {
    if (op.kind == ExprKind::Name && symbol == nullptr) {
      report(unknown(op, scope));
    } else {
      report(error::argument_type(op.span, expr.text, "the name of a function of one spinor",
                                  symbol != nullptr ? symbol->type : Type{},
                                  "define D(psi) = ... and write " + expr.text +
                                      (expr.args.size() == 1 ? "(D)" : "(D, psi)")));
    }
    return;
  }
  definition(*symbol);
  resolved_.types[&op] = type_of(Base::Operator);
  for (const NamedArgument& named : expr.named) {
    if (named.name == "solver") continue;
    infer(*named.value, scope);
    if (resolved_.find(named.name) != nullptr) continue;
    Expr name;
    name.kind = ExprKind::Name;
    name.text = named.name;
    name.span = named.span;
    report(unknown(name, scope));
  }
}

Value Inference::determinant(const Expr& expr, const Scope& scope) {
  operator_name(expr, scope);
  return {type_of(Base::Determinant), {}};
}

Value Inference::adjoint_applied(const Expr& expr, const Scope& scope) {
  operator_name(expr, scope);
  const Value psi = infer(*expr.args[1], scope);
  if (!is_unknown(psi.type) && psi.type.base != Base::Spinor) {
    report(error::argument_type(expr.args[1]->span, "adj", "a spinor in the second place", psi.type,
                                "adj(D, psi) is the adjoint of D applied to psi"));
  }
  return psi;
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
    if (axis) report(error::axis_missing(named.span, named.name, dimensions()));
  }
  for (const ExprPtr& argument : call.args) {
    const Value value = infer(*argument, scope);
    const bool many = value.type.per_site || !value.free.empty();
    if (!many && !histogram && !is_unknown(value.type)) {
      report(error::scalar_in_per_site(argument->span, call.text));
    }
    if (histogram && !is_unknown(value.type) && !is_real(value.type)) {
      report(error::number_wanted(argument->span, "what a histogram counts", value.type));
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
      report(
          error::per_site_in_scalar(argument->span, to_text(*argument), "the argument of `drift`"));
    } else if (call.text == "conserved" && !many) {
      report(error::scalar_in_per_site(argument->span, call.text));
    }
  }
}

}  // namespace vphi::dsl
