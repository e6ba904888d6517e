// The types of arguments and results of the language's functions: one method for each family.
#include <algorithm>

#include "dsl/name_errors.hpp"
#include "dsl/syntax/parse.hpp"
#include "dsl/types/constant.hpp"
#include "dsl/types/infer.hpp"
#include "dsl/types/types.hpp"

namespace vphi::dsl {

using Base = Type::Base;

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
        report(errors::argument_type(
            argument.span, "abs", "a number", type,
            component_of_each(argument, scope, "for the length of a vector write norm(v)")));
      }
    } else if (builtin.rule == Rule::RealPart || builtin.rule == Rule::Conjugate) {
      if (!is_scalar(type) && !vector && type.base != Base::Group && type.base != Base::Matrix) {
        report(errors::argument_type(argument.span, expr.text, "a number", type,
                                     "take a component or a trace first"));
      }
      if (type.base == Base::Group && type.rows > 1 && builtin.rule == Rule::RealPart) {
        report(errors::argument_type(argument.span, expr.text, "a number", type,
                                     "take the trace first: re(tr(U))"));
      }
    } else if (!is_scalar(type) || (builtin.rule == Rule::RealOnly && !is_real(type))) {
      if (type.base == Base::Complex) {
        report(errors::complex_in_real_place(argument.span, "the argument of `" + expr.text + "`",
                                             {}));
      } else {
        report(errors::argument_type(
            argument.span, expr.text, "a number", type,
            component_of_each(argument, scope,
                              "apply it to a component, v[k], or to a length, norm(v)")));
      }
    }
  }
  Type type = all.type;
  if (builtin.rule == Rule::RealOnly) return with_type(all, type_of(Base::Real));
  if (is_unknown(type) && builtin.rule != Rule::Norm && builtin.rule != Rule::RealPart) return all;
  if (builtin.rule == Rule::Norm) {
    type = type_of(Base::Real);
  } else if (builtin.rule == Rule::RealPart) {
    type = type.base == Base::Vector ? vector_of(type.rows) : type_of(Base::Real);
  } else if (builtin.rule != Rule::Conjugate) {
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
    report(errors::argument_type(expr.args[i]->span, expr.text, wanted, i == 0 ? a.type : b.type,
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
  if (builtin.rule == Rule::GroupProjection) {
    if (square || a.type.base == Base::Complex) return a;
    return wrong(0, "a sum of products of links", "as in project(U[mu] + path(nu, mu, -nu)/4)");
  }
  if (builtin.rule == Rule::Dot && a.type.base == Base::Spinor && b.type.base == Base::Spinor) {
    return with_type(all, type_of(Base::Complex));
  }
  const std::string hint = "write a * b for numbers";
  if (a.type.base != Base::Vector) return wrong(0, "vectors", hint);
  if (b.type.base != Base::Vector) return wrong(1, "vectors", hint);
  if (builtin.rule != Rule::Outer && a.type.rows != b.type.rows) {
    report(errors::operand_types(expr.span, expr.text, a.type, b.type));
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
    report_no_lattice(expr.span, "`" + expr.text + "`", true);
    return {};
  }
  const Type type = value.type;
  if (is_unknown(type)) return value;
  if (!type.per_site && !library) {
    report(errors::scalar_in_per_site(argument.span, expr.text));
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
    report(errors::argument_type(argument.span, "grad", "a number or a vector at each site", type,
                                 "take a component first"));
    return {};
  }
  if (divergence) {
    const int last = type.base == Base::Matrix ? type.columns : type.rows;
    const bool tensor = type.base == Base::Matrix || type.base == Base::Symmetric;
    if ((type.base != Base::Vector && !tensor) || last != dims) {
      report(errors::argument_type(
          argument.span, "div",
          "a vector of " + std::to_string(dims) + (dims == 1 ? " component" : " components"), type,
          "the components are the axes of the lattice; for a scalar write grad(u)"));
      return {};
    }
    if (tensor) return with_type(value, vector_of(type.rows, type.complex));
    return with_type(value, type_of(type.complex ? Base::Complex : Base::Real));
  }
  if (builtin.rule == Rule::Curl) {
    const bool vector = type.base == Base::Vector && type.rows == dims;
    if (dims == 3 && vector) return value;
    if (dims == 2 && vector)
      return with_type(value, type_of(type.complex ? Base::Complex : Base::Real));
    if (dims == 2 && is_scalar(type))
      return with_type(value, vector_of(2, type.base == Base::Complex));
    report(errors::argument_type(
        argument.span, "curl",
        dims == 2 ? "a vector of 2 components or a number" : "a vector of 3 components", type,
        dims < 2 ? "one axis has no curl" : "the components are the axes of the lattice"));
    return {};
  }
  if (builtin.rule == Rule::TransverseTraceless && type.base != Base::Symmetric) {
    report(errors::argument_type(argument.span, expr.text, "a symmetric tensor, sym(3)", type,
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
        report(errors::scalar_in_per_site(expr.args[0]->span, "d"));
      }
      return f;
    }
  }
  const bool place = variable.kind == ExprKind::Name || variable.kind == ExprKind::Index ||
                     variable.kind == ExprKind::Prime || variable.kind == ExprKind::Shift;
  if (!place) {
    report(errors::derivative_by(by.span, to_text(by)));
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
    const Expr& base = variable.kind == ExprKind::Index ? *variable.args[0] : variable;
    const Symbol* named = base.kind == ExprKind::Name ? resolved_.find(base.text) : nullptr;
    const bool made = x.type.base == Base::Matrix && named != nullptr &&
                      named->kind == SymbolKind::Definition;  // links of a projection
    if (x.type.base == Base::Group || made) return with_type(result, Type{});
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

Value Inference::colours(const Expr& expr) {
  const Expr& of = *expr.args[0];
  const Symbol* links = of.kind == ExprKind::Name ? resolved_.find(of.text) : nullptr;
  const bool defined = links != nullptr && links->kind == SymbolKind::Definition && links->indexed;
  if (!defined && (links == nullptr || links->kind != SymbolKind::Gauge))
    report(errors::links_wanted(of.span, expr.text, "U", "number of rows of links"));
  return {type_of(Base::Integer), {}};
}

Value Inference::path_product(const Expr& expr, const Builtin& builtin, const Scope& scope) {
  const Symbol* links = nullptr;
  for (const auto& [name, symbol] : resolved_.symbols) {
    const bool group = symbol.kind == SymbolKind::Gauge && symbol.type.base == Base::Group;
    if (group) links = &symbol;
  }
  const bool meant = resolved_.clause("gauge") != nullptr;  // its type is refused already
  if (links == nullptr && !meant) {
    report(errors::no_gauge_field(expr.span, std::string(builtin.name)));
    return {};
  }
  // links that are named first: those of a `gauge` line, or of a definition
  const Expr& first = *expr.args[0];
  const Symbol* of = first.kind == ExprKind::Name ? resolved_.find(first.text) : nullptr;
  const bool named = of != nullptr && expr.args.size() > 1 &&
                     (of->kind == SymbolKind::Gauge || (of->kind == SymbolKind::Definition &&
                                                        of->indexed && of->parameters.size() == 1));
  for (const ExprPtr& step : expr.args) {
    if (named && step == expr.args[0]) continue;
    // 3*mu: three steps
    const bool many = step->kind == ExprKind::Binary && step->text == "*";
    if (many) number(*step->args[0], scope, "the number of steps");
    if (!use_direction(many ? *step->args[1] : *step, scope)) {
      report(errors::shift_operand(step->span, to_text(*step), dimensions()));
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
      report(errors::argument_type(op.span, expr.text, "the name of a function of one spinor",
                                   symbol != nullptr ? symbol->type : Type{},
                                   "define D(psi) = ... and write " + expr.text +
                                       (expr.args.size() == 1 ? "(D)" : "(D, psi)")));
    }
    return;
  }
  definition(*symbol);
  resolved_.types[&op] = type_of(Base::Operator);
  for (const NamedArgument& named : expr.named) {
    const bool determinant = expr.text == "pseudofermion";
    const bool word = named.name == "start" || named.name == "even_odd";
    if (determinant && named.name == "range") {
      for (const ExprPtr& bound : named.value->args) number(*bound, scope, "a bound of `range`");
    } else if (determinant &&
               (named.name == "tol" || named.name == "order" || named.name == "together")) {
      number(*named.value, scope, "`" + named.name + "`");
    } else if (named.name == "solver" || (determinant && named.name == "force")) {
      solver(*named.value, scope);
    } else if (!determinant || !word) {  // a word is checked by the stage that uses it
      named_parameter(named, scope);
    }
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
    report(errors::argument_type(expr.args[1]->span, "adj", "a spinor in the second place",
                                 psi.type, "adj(D, psi) is the adjoint of D applied to psi"));
  }
  return psi;
}

}  // namespace vphi::dsl
