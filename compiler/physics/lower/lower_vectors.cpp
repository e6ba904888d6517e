// Functions of complex numbers, vectors and matrices, and differences on the lattice.
#include "compiler/algebra/stencil.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/physics/fields/coordinates.hpp"
#include "compiler/physics/lower/angles.hpp"
#include "compiler/physics/lower/calculus.hpp"
#include "compiler/physics/lower/displacement.hpp"
#include "compiler/physics/lower/lower.hpp"
#include "compiler/physics/physics_errors.hpp"

namespace vphi::physics {

using algebra::Op;

std::optional<Value> Lowerer::real_part(const dsl::Expr& e, const Scope& scope) {
  const std::string& name = e.text;
  const Value whole = argument(e, 0, scope), x = traced(whole, scope.reading());
  if (name == "displacement") return displacement(d_, x, e.span);
  Value v{x.rows, x.columns, {}};
  if (name == "re") v.gap = whole.gap ? whole.gap : gap_of(whole, 1);
  for (const Component& c : x.parts) {
    const Expr im = c.im ? c.im : integer(0);
    v.parts.push_back({name == "re"   ? c.re
                       : name == "im" ? im
                                      : d_.arena().make(Op::Atan2, {im, c.re}, e.span),
                       {}});
  }
  return v;
}

std::optional<Value> Lowerer::norm(const dsl::Expr& e, const Scope& scope) {
  Arena& arena = d_.arena();
  // |grad u|^2 of a real field belongs to the Laplacian: sum(|grad u|^2) = -sum(u lap u)
  const dsl::Expr& inside = *e.args[0];
  if (e.text == "norm2" && inside.kind == dsl::ExprKind::Call && inside.text == "grad" &&
      inside.args.size() == 1 && inside.args[0]->kind == dsl::ExprKind::Name &&
      !scope.value(inside.args[0]->text)) {
    if (const StateField* field = d_.field(inside.args[0]->text)) {
      Expr sum = integer(0);
      d_.ledger.choice("laplacian");
      for (const int array : field->arrays) sum = sum + arena.load(gradient_of(array));
      return Value::of(sum);
    }
  }
  const Value x = argument(e, 0, scope);
  if (e.text == "norm2") return Value::of(norm2(x));
  if (x.scalar() && x.parts[0].real())
    return Value::of(arena.make(Op::Abs, {x.parts[0].re}, e.span));
  return Value::of(algebra::pow(norm2(x), arena.rational(1, 2)));
}

std::optional<Value> Lowerer::conjugated(const dsl::Expr& e, const Scope& scope) {
  Value x = argument(e, 0, scope);
  if (x.rows == 1) {
    x.path = inverse(x.path);
    x.links = inverse(x.links);
  } else {
    x.links = nullptr;
  }
  x.form = nullptr;
  for (Component& c : x.parts) c = conjugate(c);
  return x;
}

std::optional<Value> Lowerer::dot(const dsl::Expr& e, const Scope& scope) {
  const Value a = argument(e, 0, scope), b = argument(e, 1, scope);
  if (a.parts.size() != b.parts.size()) {
    d_.fail(errors::wrong_shape(e.span, "`dot` takes two vectors of the same length"));
  }
  return Value{1, 1, {dot_product(a, b)}};
}

std::optional<Value> Lowerer::cross(const dsl::Expr& e, const Scope& scope) {
  const Value a = argument(e, 0, scope), b = argument(e, 1, scope);
  if (a.parts.size() != 3 || b.parts.size() != 3) {
    d_.fail(errors::wrong_shape(e.span, "`cross` takes two vectors with three components"));
  }
  std::vector<Component> parts;
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    parts.push_back(subtract(multiply(a.parts[j], b.parts[k]), multiply(a.parts[k], b.parts[j])));
  }
  return Value::vector(std::move(parts));
}

std::optional<Value> Lowerer::outer(const dsl::Expr& e, const Scope& scope) {
  const Value a = argument(e, 0, scope), b = argument(e, 1, scope);
  Value v{static_cast<int>(a.parts.size()), static_cast<int>(b.parts.size()), {}};
  for (const Component& x : a.parts) {
    for (const Component& y : b.parts) v.parts.push_back(multiply(x, conjugate(y)));
  }
  return v;
}

std::optional<Value> Lowerer::trace(const dsl::Expr& e, const Scope& scope) {
  const Value whole = argument(e, 0, scope), x = traced(whole, scope.reading());
  if (x.rows != x.columns) d_.fail(errors::wrong_shape(e.span, "`tr` takes a square matrix"));
  Component sum = x.parts[0];
  for (int i = 1; i < x.rows; ++i) sum = add(sum, x.parts[i * x.columns + i]);
  Value v{1, 1, {sum}};
  v.gap = gap_of(whole, whole.rows);
  return v;
}

std::optional<Value> Lowerer::adjoint_value(const dsl::Expr& e, const Scope& scope) {
  if (e.args.size() == 2) return adjoint_applied(e, scope);
  const Value x = value(*e.args[0], scope);
  if (x.acts) return adjoint_operator(x);
  if (x.spinor) {
    d_.fail(errors::wrong_shape(e.span, "two spinors are multiplied with `dot`"));
  }
  if (x.path) return Value{x.columns, x.rows, x.parts, inverse(x.path)};
  Value v{x.columns, x.rows, {}};
  for (int i = 0; i < x.columns; ++i) {
    for (int j = 0; j < x.rows; ++j) v.parts.push_back(conjugate(x.parts[j * x.columns + i]));
  }
  v.links = inverse(x.links);
  return v;
}

std::optional<Value> Lowerer::divergence(const dsl::Expr& e, const Scope& scope) {
  const Value x = argument(e, 0, scope);
  if (x.columns != 1 || x.rows != d_.grid.dims) {
    d_.fail(errors::wrong_shape(e.span, "`div` takes a vector with one component for each axis"));
  }
  Value sum = Value::of(integer(0));
  for (int k = 0; k < x.rows; ++k) {
    sum = add(sum, axis_derivative({1, 1, {x.parts[k]}}, k));
  }
  return sum;
}

std::optional<Value> Lowerer::curl(const dsl::Expr& e, const Scope& scope) {
  const Value x = argument(e, 0, scope);
  const auto slope = [&](int component, int axis) {
    return axis_derivative({1, 1, {x.parts[static_cast<std::size_t>(component)]}}, axis);
  };
  const auto turns = [&](int a, int b) { return subtract(slope(b, a), slope(a, b)).parts[0]; };
  const int dims = d_.grid.dims;
  if (x.columns == 1 && x.rows == dims && dims == 3)
    return Value{3, 1, {turns(1, 2), turns(2, 0), turns(0, 1)}};
  if (x.columns == 1 && x.rows == dims && dims == 2) return Value{1, 1, {turns(0, 1)}};
  if (x.scalar() && dims == 2)
    return Value{2, 1, {slope(0, 1).parts[0], negate(slope(0, 0)).parts[0]}};
  d_.fail(errors::wrong_shape(e.span,
                              "`curl` takes a vector with one component for each axis, or "
                              "in two dimensions a number"));
}

std::optional<Value> Lowerer::laplacian(const dsl::Expr& e, const Scope& scope) {
  const Value x = argument(e, 0, scope);
  if (d_.laplacian < 0) d_.fail(errors::no_lattice(e.span, "lap"));
  const algebra::StencilData& stencil = d_.arena().stencil_data(d_.laplacian);
  if (x.spinor && !stencil.spectral) {
    d_.ledger.choice("laplacian");
    if (curvilinear(d_))
      d_.fail(errors::not_yet(e.span, "`lap` of a spinor beside `metric scale`"));
    const Expr factor = algebra::pow(d_.grid.dx, stencil.dx_power);
    return stencil_of_spinor(x, stencil, factor, e.span, scope.reading());
  }
  Value v{x.rows, x.columns, {}};
  v.spinor = x.spinor;
  for (const Component& c : x.parts) {
    v.parts.push_back({physics::laplacian(d_, c.re), c.im ? physics::laplacian(d_, c.im) : Expr{}});
  }
  return v;
}

Value Lowerer::stencil_of_spinor(const Value& x, const algebra::StencilData& stencil, Expr factor,
                                 dsl::Span span, const Reading& reading) {
  Arena& arena = d_.arena();
  const auto term = [&](std::size_t i) {
    const algebra::Offset& offset = stencil.offsets[i];
    const Value there = offset.zero() ? x : at_neighbour(x, offset, span, reading);
    return multiply(Value::of(arena.integer(stencil.weights[i])), there);
  };
  Value sum = term(0);
  for (std::size_t i = 1; i < stencil.offsets.size(); ++i) sum = add(sum, term(i));
  return multiply(Value::of(factor / arena.integer(stencil.denominator)), sum);
}

// du/dx_k = (u(x + k) - u(x - k))/(2 dx)
Value Lowerer::axis_derivative(const Value& x, int axis) {
  const auto slope = [&](Expr e) { return e ? slope_along(d_, e, axis) : Expr{}; };
  Value v{x.rows, x.columns, {}};
  for (const Component& c : x.parts) v.parts.push_back({slope(c.re), slope(c.im)});
  return v;
}

Value Lowerer::spinor_slope(const Value& x, int axis, dsl::Span span, const Reading& reading) {
  algebra::StencilData difference;
  difference.offsets.resize(2);
  difference.offsets[0].d[axis] = 1;
  difference.offsets[1].d[axis] = -1;
  difference.weights = {1, -1};
  difference.denominator = 2;
  return stencil_of_spinor(x, difference, d_.arena().integer(1) / d_.grid.dx, span, reading);
}

std::optional<Value> Lowerer::gradient(const dsl::Expr& e, const Scope& scope) {
  const Value x = argument(e, 0, scope);
  const dsl::Span span = e.span;
  if (!d_.grid.present) d_.fail(errors::no_lattice(span, "grad"));
  if (!x.scalar()) d_.fail(errors::wrong_shape(span, "`grad` takes a number at each site"));
  std::vector<Component> parts;
  for (int axis = 0; axis < d_.grid.dims; ++axis) {
    parts.push_back(axis_derivative(x, axis).parts[0]);
  }
  return Value::vector(std::move(parts));
}

/// Sums in stencils.
std::optional<Value> Lowerer::neighbours(const dsl::Expr& e, const Scope& scope) {
  const int distance = e.text == "faces" ? 1 : e.text == "edges" ? 2 : 3;
  const Value x = value(*e.args[0], scope);
  if (x.spinor) {
    algebra::StencilData sum;
    sum.offsets = algebra::neighbours(d_.grid.dims, distance);
    sum.weights.assign(sum.offsets.size(), 1);
    return stencil_of_spinor(x, sum, integer(1), e.span, scope.reading());
  }
  Value v{x.rows, x.columns, {}};
  for (const Component& c : x.parts) {
    v.parts.push_back({algebra::neighbour_sum(c.re, d_.grid.dims, distance),
                       c.im ? algebra::neighbour_sum(c.im, d_.grid.dims, distance) : Expr{}});
  }
  return v;
}

}  // namespace vphi::physics
