// Functions of the language: elementary ones, complex and vector ones, lattice operators.
#include <fmt/format.h>

#include <array>
#include <map>

#include "compiler/algebra/stencil.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/physics/fields/transverse.hpp"
#include "compiler/physics/lower/angles.hpp"
#include "compiler/physics/lower/calculus.hpp"
#include "compiler/physics/lower/displacement.hpp"
#include "compiler/physics/lower/lower.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "compiler/physics/starts/init_errors.hpp"
#include "dsl/words/builtins.hpp"

namespace vphi::physics {

using algebra::Op;
using dsl::Rule;

namespace {

// The operations that the formulas of dsl/functions.def use, on expressions.
Expr like(Expr x, int number) { return x->arena->integer(number); }
Expr cosh_of(Expr x) { return x->arena->make(Op::Cosh, {x}); }
Expr floor_of(Expr x) { return x->arena->make(Op::Floor, {x}); }
Expr min_of(Expr x, Expr y) { return x->arena->make(Op::Min, {x, y}); }
Expr max_of(Expr x, Expr y) { return x->arena->make(Op::Max, {x, y}); }
/// The real root of negative numbers as well.
Expr cube_root_of(Expr x) {
  return x->arena->make(Op::Sign, {x}) *
         algebra::pow(x->arena->make(Op::Abs, {x}), x->arena->rational(1, 3));
}
Expr log_to_base(Expr x, int base) {
  return x->arena->make(Op::Log, {x}) / x->arena->make(Op::Log, {like(x, base)});
}

/// A function that the table gives by a formula.
struct Composed {
  std::size_t arguments;
  Expr (*formula)(Expr, Expr, Expr);
};

std::optional<Composed> composed_function(std::string_view name) {
  static const std::map<std::string_view, Composed> rows{
#define VPHI_COMPOSED(name, count, rule, formula, ...)                                  \
  {name, {count, [](Expr x, [[maybe_unused]] Expr y, [[maybe_unused]] Expr z) -> Expr { \
            return formula;                                                             \
          }}},
#include "dsl/functions.def"
  };
  const auto row = rows.find(name);
  return row == rows.end() ? std::nullopt : std::optional(row->second);
}

}  // namespace

Value Lowerer::call(const dsl::Expr& e, const Scope& scope) {
  const NamedFact* fact = scope.value(e.text) ? nullptr : d_.facts.find(e.text);
  if (fact && fact->kind == NamedFact::Kind::Function) return user_function(*fact, e, scope);
  if (const auto v = builtin(e, scope)) return *v;
  const dsl::Builtin* known = dsl::find_builtin(e.text);
  if (known && known->rule == dsl::Rule::Distribution && !scope.reading().random) {
    d_.fail(errors::random_not_here(e.span, e.text));
  }
  if (known) d_.fail(errors::not_yet(e.span, fmt::format("`{}` here", e.text)));
  d_.fail(errors::unknown_name(e.span, e.text));
}

/// How each kind of function is read; a kind without a row has no value in an expression.
const std::map<Rule, Lowerer::ReadCall>& Lowerer::readers() {
  static const std::map<Rule, ReadCall> rows{
      {Rule::Distribution, &Lowerer::distribution},
      {Rule::RealFunction, &Lowerer::elementary},
      {Rule::RealOnly, &Lowerer::of_reals},
      {Rule::First, &Lowerer::first_passage},
      {Rule::Keep, &Lowerer::laplacian},
      {Rule::RealPart, &Lowerer::real_part},
      {Rule::Norm, &Lowerer::norm},
      {Rule::Conjugate, &Lowerer::conjugated},
      {Rule::Gradient, &Lowerer::gradient},
      {Rule::Divergence, &Lowerer::divergence},
      {Rule::Curl, &Lowerer::curl},
      {Rule::Dot, &Lowerer::dot},
      {Rule::Cross, &Lowerer::cross},
      {Rule::Outer, &Lowerer::outer},
      {Rule::Trace, &Lowerer::trace},
      {Rule::Adjoint, &Lowerer::adjoint_value},
      {Rule::Derivative, &Lowerer::derivative},
      {Rule::Reduce, &Lowerer::reduced},
      {Rule::ReduceOrFold, &Lowerer::extremum},
      {Rule::Fold, &Lowerer::minmod},
      {Rule::Quantifier, &Lowerer::reduction},
      {Rule::SiteNumber, &Lowerer::site_number},
      {Rule::PathProduct, &Lowerer::path_product},
      {Rule::Colours, &Lowerer::colours_of_links},
      {Rule::GroupProjection, &Lowerer::projected_value},
      {Rule::UnitSpinor, &Lowerer::unit_spinor},
      {Rule::Table, &Lowerer::table},
      {Rule::OfFormula, &Lowerer::of_formula},
      {Rule::File, &Lowerer::file_without_index},
      {Rule::Solve, &Lowerer::solve},
      {Rule::OfSolve, &Lowerer::of_solve},
      {Rule::TransverseTraceless, &Lowerer::transverse},
      {Rule::SumOfNeighbours, &Lowerer::neighbours},
  };
  return rows;
}

std::optional<Value> Lowerer::builtin(const dsl::Expr& e, const Scope& scope) {
  const dsl::Builtin* function = dsl::find_builtin(e.text);
  if (!function) return std::nullopt;
  if (static_cast<int>(e.args.size()) < function->least) {
    d_.fail(errors::wrong_shape(e.span, fmt::format("`{}` needs an argument", e.text)));
  }
  const auto reader = readers().find(function->rule);
  if (reader == readers().end())  // `spectrum`: an output, and behind `~` a distribution
    return dsl::find_distribution(e.text) ? distribution(e, scope) : std::nullopt;
  return (this->*reader->second)(e, scope);
}

/// The value of an argument; refused where it is a linear operator.
Value Lowerer::argument(const dsl::Expr& e, std::size_t i, const Scope& scope) {
  Value v = value(*e.args[i], scope);
  if (v.acts) d_.fail(errors::wrong_shape(e.args[i]->span, kOperatorAlone));
  return v;
}

std::optional<Value> Lowerer::distribution(const dsl::Expr& e, const Scope& scope) {
  const Reading& reading = scope.reading();
  if (!reading.random) return std::nullopt;
  return reading.random(e, reading);
}

std::optional<Value> Lowerer::file_without_index(const dsl::Expr& e, const Scope& scope) {
  if (const auto start = distribution(e, scope)) return start;  // initial values
  d_.fail(errors::wrong_shape(e.span, "a file of numbers takes an index: file(\"f.txt\")[0, 1]"));
}

std::optional<Value> Lowerer::of_reals(const dsl::Expr& e, const Scope& scope) {
  const std::string& name = e.text;
  const std::string what = fmt::format("the argument of `{}`", name);
  const Expr x = real(*e.args[0], what, scope);
  if (name == "error") return Value::of(standard_error(d_, x, e.span));
  if (const auto composed = composed_function(name)) {
    if (e.args.size() != composed->arguments) return std::nullopt;
    std::array<Expr, 3> more{x, {}, {}};
    for (std::size_t i = 1; i < e.args.size(); ++i) more[i] = real(*e.args[i], what, scope);
    return Value::of(composed->formula(more[0], more[1], more[2]));
  }
  if (name == "atan2") {
    const Expr other = real(*e.args[1], what, scope);
    return Value::of(d_.arena().make(Op::Atan2, {x, other}, e.span));
  }
  const Op op = algebra::op_named(name);
  if (op == Op::Count_) return std::nullopt;
  return Value::of(d_.arena().make(op, {x}, e.span));
}

std::optional<Value> Lowerer::reduced(const dsl::Expr& e, const Scope& scope) {
  if (e.text == "sum" || e.text == "prod") return sum_or_product(e, e.text == "prod", scope);
  if (e.text == "msd") return reduction(*mean_squared_displacement(e), scope);
  return reduction(e, scope);
}

/// One argument reduces over the lattice, several values are compared; names without a meaning are
/// indices.
std::optional<Value> Lowerer::extremum(const dsl::Expr& e, const Scope& scope) {
  if (e.args.size() == 1 || !e.named.empty()) return reduction(e, scope);
  if (const auto over = over_particles(e, scope)) return *over;
  std::vector<Expr> parts;
  for (const dsl::ExprPtr& a : e.args)
    parts.push_back(real(*a, fmt::format("an argument of `{}`", e.text), scope));
  Expr result = parts[0];
  for (std::size_t i = 1; i < parts.size(); ++i) {
    result = d_.arena().make(e.text == "min" ? Op::Min : Op::Max, {result, parts[i]}, e.span);
  }
  return Value::of(result);
}

/// The smallest in size where all signs agree.
std::optional<Value> Lowerer::minmod(const dsl::Expr& e, const Scope& scope) {
  Arena& arena = d_.arena();
  std::vector<Expr> parts;
  for (const dsl::ExprPtr& a : e.args) parts.push_back(real(*a, "an argument of `minmod`", scope));
  Expr low = parts[0], high = parts[0];
  for (std::size_t i = 1; i < parts.size(); ++i) {
    low = arena.make(Op::Min, {low, parts[i]});
    high = arena.make(Op::Max, {high, parts[i]});
  }
  return Value::of(arena.make(Op::Max, {integer(0), low}) +
                   arena.make(Op::Min, {integer(0), high}));
}

std::optional<Value> Lowerer::site_number(const dsl::Expr& e, const Scope& scope) {
  const auto k = direction(*e.args[0], scope);
  if (!k || k->value >= d_.grid.dims) {
    d_.fail(errors::wrong_shape(e.span, "`index` takes an axis: index(x)"));
  }
  return Value::of(d_.arena().site(k->value));
}

std::optional<Value> Lowerer::transverse(const dsl::Expr& e, const Scope& scope) {
  return projected(d_, argument(e, 0, scope), e.span);
}

std::optional<Value> Lowerer::elementary(const dsl::Expr& e, const Scope& scope) {
  const std::string& name = e.text;
  Arena& arena = d_.arena();
  const Value x = argument(e, 0, scope);
  if (!x.scalar()) d_.fail(errors::wrong_shape(e.span, fmt::format("`{}` takes a number", name)));
  const Component c = x.parts[0];
  const auto f = [&](Op op, Expr argument) { return arena.make(op, {argument}, e.span); };
  if (c.real()) {
    if (name == "sqrt") return Value::of(algebra::pow(c.re, arena.rational(1, 2)));
    if (const auto composed = composed_function(name)) {
      return Value::of(composed->formula(c.re, {}, {}));
    }
    const Op op = algebra::op_named(name);
    if (op == Op::Count_) d_.fail(errors::not_yet(e.span, fmt::format("`{}`", name)));
    return Value::of(f(op, c.re));
  }
  const Expr re = c.re, im = c.im;
  if (name == "exp") {
    const Expr size = f(Op::Exp, re);
    return Value::of(size * f(Op::Cos, im), size * f(Op::Sin, im));
  }
  if (name == "log") {
    return Value::of(arena.rational(1, 2) * f(Op::Log, norm2(c)), arena.make(Op::Atan2, {im, re}));
  }
  if (name == "sin") {
    return Value::of(f(Op::Sin, re) * f(Op::Cosh, im), f(Op::Cos, re) * f(Op::Sinh, im));
  }
  if (name == "cos") {
    return Value::of(f(Op::Cos, re) * f(Op::Cosh, im), -(f(Op::Sin, re) * f(Op::Sinh, im)));
  }
  if (name == "sinh") {
    return Value::of(f(Op::Sinh, re) * f(Op::Cos, im), f(Op::Cosh, re) * f(Op::Sin, im));
  }
  if (name == "cosh") {
    return Value::of(f(Op::Cosh, re) * f(Op::Cos, im), f(Op::Sinh, re) * f(Op::Sin, im));
  }
  if (name == "sqrt") {
    // principal root: sqrt((|z| + re)/2) + i*sign(im)*sqrt((|z| - re)/2)
    const Expr half = arena.rational(1, 2);
    const Expr size = algebra::pow(norm2(c), half);
    return Value::of(
        algebra::pow(half * (size + re), half),
        arena.make(Op::Select, {arena.make(Op::Less, {im, integer(0)}), integer(-1), integer(1)}) *
            algebra::pow(half * (size - re), half));
  }
  d_.fail(errors::not_yet(e.span, fmt::format("`{}` of a complex number", name)));
}

}  // namespace vphi::physics
