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
#include "dsl/words/builtins.hpp"

namespace vphi::physics {

using algebra::Op;

namespace {

// What the formulas of dsl/functions.def are made of, on expressions.
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

std::optional<Value> Lowerer::builtin(const dsl::Expr& e, const Scope& scope) {
  const std::string& name = e.text;
  const dsl::Builtin* row = dsl::find_builtin(name);
  if (!row) return std::nullopt;
  Arena& arena = d_.arena();
  const auto operand = [&](std::size_t i) { return value(*e.args[i], scope); };
  const auto arg = [&](std::size_t i) {
    Value v = operand(i);
    if (v.acts) d_.fail(errors::wrong_shape(e.args[i]->span, kOperatorAlone));
    return v;
  };
  if (static_cast<int>(e.args.size()) < row->least) {
    d_.fail(errors::wrong_shape(e.span, fmt::format("`{}` needs an argument", name)));
  }
  switch (row->rule) {
    case dsl::Rule::Distribution:
      if (scope.reading().random) return scope.reading().random(e, scope.reading());
      return std::nullopt;
    case dsl::Rule::RealFunction:
      return elementary(name, e, arg(0));
    case dsl::Rule::RealOnly: {
      const Expr x = real(*e.args[0], fmt::format("the argument of `{}`", name), scope);
      if (name == "error") return Value::of(standard_error(d_, x, e.span));
      if (const auto composed = composed_function(name)) {
        if (e.args.size() != composed->arguments) return std::nullopt;
        std::array<Expr, 3> more{x, {}, {}};
        for (std::size_t i = 1; i < e.args.size(); ++i) {
          more[i] = real(*e.args[i], fmt::format("the argument of `{}`", name), scope);
        }
        return Value::of(composed->formula(more[0], more[1], more[2]));
      }
      if (name == "atan2") {
        const Expr other = real(*e.args[1], "the argument of `atan2`", scope);
        return Value::of(arena.make(Op::Atan2, {x, other}, e.span));
      }
      const Op op = algebra::op_named(name);
      if (op == Op::Count_) return std::nullopt;
      return Value::of(arena.make(op, {x}, e.span));
    }
    case dsl::Rule::First:
      return first_passage(e, scope);
    case dsl::Rule::Keep:
      return laplacian(arg(0), e.span);
    case dsl::Rule::RealPart: {
      const Value whole = arg(0), x = traced(whole, scope.reading());
      if (name == "displacement") return displacement(d_, x, e.span);
      Value v{x.rows, x.columns, {}};
      if (name == "re") v.gap = whole.gap ? whole.gap : gap_of(whole, 1);
      for (const Component& c : x.parts) {
        const Expr im = c.im ? c.im : integer(0);
        v.parts.push_back({name == "re"   ? c.re
                           : name == "im" ? im
                                          : arena.make(Op::Atan2, {im, c.re}, e.span),
                           {}});
      }
      return v;
    }
    case dsl::Rule::Norm: {
      // |grad u|^2 of a real field belongs to the Laplacian: sum(|grad u|^2) = -sum(u lap u)
      const dsl::Expr& inside = *e.args[0];
      if (name == "norm2" && inside.kind == dsl::ExprKind::Call && inside.text == "grad" &&
          inside.args.size() == 1 && inside.args[0]->kind == dsl::ExprKind::Name &&
          !scope.value(inside.args[0]->text)) {
        if (const StateField* field = d_.field(inside.args[0]->text)) {
          Expr sum = integer(0);
          for (const int array : field->arrays) sum = sum + arena.load(gradient_of(array));
          return Value::of(sum);
        }
      }
      const Value x = arg(0);
      if (name == "norm2") return Value::of(norm2(x));
      if (x.scalar() && x.parts[0].real())
        return Value::of(arena.make(Op::Abs, {x.parts[0].re}, e.span));
      return Value::of(algebra::pow(norm2(x), arena.rational(1, 2)));
    }
    case dsl::Rule::Conjugate: {
      Value x = arg(0);
      if (x.path && x.rows == 1) x.path = std::make_shared<const LinkPath>(inverse(*x.path));
      x.links = nullptr;
      x.form = nullptr;
      for (Component& c : x.parts) c = conjugate(c);
      return x;
    }
    case dsl::Rule::Gradient:
      return gradient(arg(0), e.span);
    case dsl::Rule::Divergence: {
      const Value x = arg(0);
      if (x.columns != 1 || x.rows != d_.grid.dims) {
        d_.fail(
            errors::wrong_shape(e.span, "`div` takes a vector with one component for each axis"));
      }
      Value sum = Value::of(integer(0));
      for (int k = 0; k < x.rows; ++k) {
        sum = add(sum, axis_derivative({1, 1, {x.parts[k]}}, k));
      }
      return sum;
    }
    case dsl::Rule::Dot: {
      const Value a = arg(0), b = arg(1);
      if (a.parts.size() != b.parts.size()) {
        d_.fail(errors::wrong_shape(e.span, "`dot` takes two vectors of the same length"));
      }
      Component sum = multiply(conjugate(a.parts[0]), b.parts[0]);
      for (std::size_t i = 1; i < a.parts.size(); ++i) {
        sum = add(sum, multiply(conjugate(a.parts[i]), b.parts[i]));
      }
      return Value{1, 1, {sum}};
    }
    case dsl::Rule::Cross: {
      const Value a = arg(0), b = arg(1);
      if (a.parts.size() != 3 || b.parts.size() != 3) {
        d_.fail(errors::wrong_shape(e.span, "`cross` takes two vectors with three components"));
      }
      std::vector<Component> parts;
      for (int i = 0; i < 3; ++i) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        parts.push_back(
            subtract(multiply(a.parts[j], b.parts[k]), multiply(a.parts[k], b.parts[j])));
      }
      return Value::vector(std::move(parts));
    }
    case dsl::Rule::Outer: {
      const Value a = arg(0), b = arg(1);
      Value v{static_cast<int>(a.parts.size()), static_cast<int>(b.parts.size()), {}};
      for (const Component& x : a.parts) {
        for (const Component& y : b.parts) v.parts.push_back(multiply(x, conjugate(y)));
      }
      return v;
    }
    case dsl::Rule::Trace: {
      const Value whole = arg(0), x = traced(whole, scope.reading());
      if (x.rows != x.columns) d_.fail(errors::wrong_shape(e.span, "`tr` takes a square matrix"));
      Component sum = x.parts[0];
      for (int i = 1; i < x.rows; ++i) sum = add(sum, x.parts[i * x.columns + i]);
      Value v{1, 1, {sum}};
      v.gap = gap_of(whole, whole.rows);
      return v;
    }
    case dsl::Rule::Adjoint: {
      if (e.args.size() == 2) return adjoint_applied(e, scope);
      const Value x = operand(0);
      if (x.acts) return adjoint_operator(x);
      if (x.spinor) {
        d_.fail(errors::wrong_shape(e.span, "two spinors are multiplied with `dot`"));
      }
      if (x.path) {
        return Value{x.columns, x.rows, x.parts,
                     std::make_shared<const LinkPath>(inverse(*x.path))};
      }
      Value v{x.columns, x.rows, {}};
      for (int i = 0; i < x.columns; ++i) {
        for (int j = 0; j < x.rows; ++j) v.parts.push_back(conjugate(x.parts[j * x.columns + i]));
      }
      if (x.links) v.links = std::make_shared<const LinkPath>(inverse(*x.links));
      return v;
    }
    case dsl::Rule::Derivative:
      return derivative(e, scope);
    case dsl::Rule::Reduce:
      if (name == "sum" || name == "prod") return sum_or_product(e, name == "prod", scope);
      if (name == "msd") return reduction(*mean_squared_displacement(e), scope);
      return reduction(e, scope);
    case dsl::Rule::ReduceOrFold: {
      // one argument reduces over the lattice, several values are compared; names without a
      // meaning are indices
      if (e.args.size() == 1 || !e.named.empty()) return reduction(e, scope);
      if (const auto over = over_particles(e, scope)) return *over;
      std::vector<Expr> parts;
      for (const dsl::ExprPtr& a : e.args)
        parts.push_back(real(*a, fmt::format("an argument of `{}`", name), scope));
      Expr result = parts[0];
      for (std::size_t i = 1; i < parts.size(); ++i) {
        result = arena.make(name == "min" ? Op::Min : Op::Max, {result, parts[i]}, e.span);
      }
      return Value::of(result);
    }
    case dsl::Rule::Fold: {
      // minmod: the smallest in size where all signs agree
      std::vector<Expr> parts;
      for (const dsl::ExprPtr& a : e.args)
        parts.push_back(real(*a, "an argument of `minmod`", scope));
      Expr low = parts[0], high = parts[0];
      for (std::size_t i = 1; i < parts.size(); ++i) {
        low = arena.make(Op::Min, {low, parts[i]});
        high = arena.make(Op::Max, {high, parts[i]});
      }
      return Value::of(arena.make(Op::Max, {integer(0), low}) +
                       arena.make(Op::Min, {integer(0), high}));
    }
    case dsl::Rule::Quantifier:
      return reduction(e, scope);
    case dsl::Rule::SiteNumber: {
      const auto k = direction(*e.args[0], scope);
      if (!k || k->value >= d_.grid.dims) {
        d_.fail(errors::wrong_shape(e.span, "`index` takes an axis: index(x)"));
      }
      return Value::of(arena.site(k->value));
    }
    case dsl::Rule::PathProduct:
      if (!has_links()) return std::nullopt;
      return path_product(e, scope);
    case dsl::Rule::UnitSpinor:
      return unit_spinor(e, scope);
    case dsl::Rule::Table:
      return table(e, scope);
    case dsl::Rule::File:
      if (scope.reading().random)  // initial values
        return scope.reading().random(e, scope.reading());
      d_.fail(
          errors::wrong_shape(e.span, "a file of numbers takes an index: file(\"f.txt\")[0, 1]"));
    case dsl::Rule::Solve:
      return solve(e, scope);
    case dsl::Rule::OfSolve:
      return of_solve(e, scope);
    case dsl::Rule::TransverseTraceless:
      return projected(d_, arg(0), e.span);
    case dsl::Rule::SumOfNeighbours:
      return neighbours(e, name == "faces" ? 1 : name == "edges" ? 2 : 3, scope);
    default:
      return std::nullopt;
  }
}

Value Lowerer::elementary(const std::string& name, const dsl::Expr& e, const Value& x) {
  Arena& arena = d_.arena();
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

Value Lowerer::laplacian(const Value& x, dsl::Span span) {
  if (d_.laplacian < 0) d_.fail(errors::no_lattice(span, "lap"));
  Value v{x.rows, x.columns, {}};
  for (const Component& c : x.parts) {
    v.parts.push_back({physics::laplacian(d_, c.re), c.im ? physics::laplacian(d_, c.im) : Expr{}});
  }
  return v;
}

// du/dx_k = (u(x + k) - u(x - k))/(2 dx)
Value Lowerer::axis_derivative(const Value& x, int axis) {
  const auto slope = [&](Expr e) { return e ? slope_along(d_, e, axis) : Expr{}; };
  Value v{x.rows, x.columns, {}};
  for (const Component& c : x.parts) v.parts.push_back({slope(c.re), slope(c.im)});
  return v;
}

Value Lowerer::gradient(const Value& x, dsl::Span span) {
  if (!d_.grid.present) d_.fail(errors::no_lattice(span, "grad"));
  if (!x.scalar()) d_.fail(errors::wrong_shape(span, "`grad` takes a number at each site"));
  std::vector<Component> parts;
  for (int axis = 0; axis < d_.grid.dims; ++axis) {
    parts.push_back(axis_derivative(x, axis).parts[0]);
  }
  return Value::vector(std::move(parts));
}

Value Lowerer::neighbours(const dsl::Expr& e, int distance, const Scope& scope) {
  const Value x = value(*e.args[0], scope);
  Value v{x.rows, x.columns, {}};
  for (const Component& c : x.parts) {
    v.parts.push_back({algebra::neighbour_sum(c.re, d_.grid.dims, distance),
                       c.im ? algebra::neighbour_sum(c.im, d_.grid.dims, distance) : Expr{}});
  }
  return v;
}

}  // namespace vphi::physics
