#include "compiler/physics/lower/lower.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "compiler/algebra/transform.hpp"
#include "compiler/physics/chains/link_definition.hpp"
#include "compiler/physics/clauses/sweep_axes.hpp"
#include "compiler/physics/lower/calculus.hpp"
#include "compiler/physics/noise/noise.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "compiler/physics/spinors/spinors.hpp"
#include "dsl/messages/error.hpp"

namespace vphi::physics {

using algebra::Op;
using dsl::ExprKind;

namespace {

/// The value with the span of the text on the nodes made since `since`, and on the terms of sums.
Value marked(Value v, dsl::Span span, std::size_t since) {
  for (const Component& part : v.parts) {
    for (const Expr e : {part.re, part.im}) {
      if (!e) continue;
      e->arena->settle(e, span, since);
      if (!e.is(Op::Add)) continue;
      for (const Expr term : e.args()) e->arena->settle(term, span, since);
    }
  }
  return v;
}

}  // namespace

dsl::Diagnostic Lowerer::shape_message(const dsl::Expr& e, const std::string& what) const {
  return errors::wrong_shape(e.span, what);
}

Value Lowerer::value(const dsl::Expr& e, const Scope& scope) {
  Arena& arena = d_.arena();
  const std::size_t before = arena.size();
  switch (e.kind) {
    case ExprKind::Number: {
      const Expr number = decimal(arena, e.text);
      return e.imaginary ? Value::of(arena.integer(0), number) : Value::of(number);
    }
    case ExprKind::Name:
      return name(e, scope);
    case ExprKind::Unary: {
      if (e.text == "not") return Value::of(arena.make(Op::Not, {condition(*e.args[0], scope)}));
      return negate(value(*e.args[0], scope));
    }
    case ExprKind::Binary:
      return marked(binary(e, scope), e.span, before);
    case ExprKind::Select:
      return select(e, scope);
    case ExprKind::Call:
      return marked(call(e, scope), e.span, before);
    case ExprKind::Index:
      return index(e, scope);
    case ExprKind::Prime:
      return prime(e, scope);
    case ExprKind::Shift:
      return shift(e, scope);
    case ExprKind::Unit:
      return unit(e, scope);
    case ExprKind::List: {
      // numbers, or the rows of a matrix
      std::vector<Component> parts;
      std::size_t columns = 0;
      for (const dsl::ExprPtr& arg : e.args) {
        const Value part = value(*arg, scope);
        if (parts.empty()) columns = part.parts.size();
        if (part.columns != 1 || part.acts || part.parts.size() != columns)
          d_.fail(errors::wrong_shape(
              arg->span,
              "a list of numbers is a vector, a list of vectors of one length a matrix"));
        parts.insert(parts.end(), part.parts.begin(), part.parts.end());
      }
      if (columns > 1) {
        return {static_cast<int>(e.args.size()), static_cast<int>(columns), std::move(parts)};
      }
      return Value::vector(std::move(parts));
    }
    case ExprKind::String:
    case ExprKind::Sign:
    case ExprKind::Range:
      break;
  }
  d_.fail(errors::wrong_shape(e.span, "this has no value in an expression"));
}

Expr Lowerer::real(const dsl::Expr& e, const std::string& what, const Scope& scope) {
  const Value v = value(e, scope);
  if (!v.scalar()) d_.fail(errors::wrong_shape(e.span, what + " is a number, not a vector"));
  if (!v.parts[0].real() && !v.parts[0].im.is_zero()) d_.fail(errors::not_real(e.span, what));
  return v.parts[0].re;
}

namespace {

dsl::Diagnostic not_whole(dsl::Span span, const std::string& what, long double number) {
  return dsl::error(
      "E0222", span,
      fmt::format("{} is a whole number, and this is {:.6g}", what, static_cast<double>(number)),
      "", "counts, indices and seeds have no fraction, and are below 1e15",
      "write a whole number, or a param that is one");
}

}  // namespace

Expr Lowerer::fixed(const dsl::Expr& e, const std::string& what, const Scope& scope) {
  const Expr v = snap_numbers(real(e, what, scope));
  const auto number = algebra::constant(v);
  if (!number) {
    const std::vector<int> axes = axes_of(d_, v);
    if (!axes.empty()) {
      const Axis& axis = d_.axes[static_cast<std::size_t>(axes[0])];
      d_.fail(errors::swept_here(e.span, what, axis.name, axis.span, axis.free));
    }
    d_.fail(errors::not_fixed(e.span, what));
  }
  if (!std::isfinite(number->real)) d_.fail(errors::not_a_number(e.span, what));
  return d_.arena().number(*number);
}

long double Lowerer::fixed_number(const dsl::Expr& e, const std::string& what, const Scope& scope) {
  return fixed(e, what, scope)->number.real;
}

std::int64_t Lowerer::fixed_integer(const dsl::Expr& e, const std::string& what,
                                    const Scope& scope) {
  const long double number = fixed_number(e, what, scope);
  if (number != std::floor(number) || std::fabs(number) > 1e15L)
    d_.fail(not_whole(e.span, what, number));
  return static_cast<std::int64_t>(number);
}

Expr Lowerer::condition(const dsl::Expr& e, const Scope& scope) {
  return real(e, "a condition", scope);
}

// ---- arithmetic
// ----------------------------------------------------------------------------------

/// The sides of `k == t`, `mu != -nu`, `mu < nu`, of which one is a direction that an index runs
/// over: as numbers that compare the same way. Nothing where no side is one.
std::optional<std::pair<int, int>> Lowerer::compared_axes(const dsl::Expr& e, const Scope& scope) {
  bool runs = false;
  const auto read = [&](const dsl::Expr& side) -> std::optional<IndexValue> {
    const dsl::Expr& bare = side.kind == ExprKind::Unary && side.text == "-" ? *side.args[0] : side;
    if (bare.kind != ExprKind::Name) return std::nullopt;
    if (!scope.index(bare.text) && d_.facts.find(bare.text)) return std::nullopt;
    const auto k = direction(side, scope);
    if (!k || !k->direction) return std::nullopt;
    if (scope.index(bare.text)) runs = true;
    return k;
  };
  const auto a = read(*e.args[0]), b = read(*e.args[1]);
  if (!runs) {
    refuse_coordinate_for_axis(e, scope);
    return std::nullopt;
  }
  // axes are compared, and the sense where a minus is written: `mu == t` holds of -t as well
  const bool sense = e.args[0]->kind == ExprKind::Unary || e.args[1]->kind == ExprKind::Unary;
  const auto number = [&](const IndexValue& k) {
    return sense ? 2 * k.value + (k.sign < 0 ? 1 : 0) : k.value;
  };
  if (a && b) return std::pair(number(*a), number(*b));
  const dsl::Expr& other = a ? *e.args[1] : *e.args[0];
  const auto constant =
      algebra::constant(snap_numbers(real(other, "a side of a comparison", scope)));
  const IndexValue& k = a ? *a : *b;
  if (!constant || k.sign < 0) d_.fail(errors::direction_compared(e.span));
  return std::nullopt;  // of axes that are counted from 0
}

/// Refuses `k == x` in a function that was called with `y`: k is the coordinate y there, while the
/// comparison is meant between directions.
void Lowerer::refuse_coordinate_for_axis(const dsl::Expr& e, const Scope& scope) const {
  if (e.text != "==" && e.text != "!=") return;
  for (std::size_t i = 0; i < 2; ++i) {
    const dsl::Expr &local = *e.args[i], &axis = *e.args[1 - i];
    if (local.kind != ExprKind::Name || axis.kind != ExprKind::Name) continue;
    const Value* v = scope.value(local.text);
    if (!v || !v->scalar() || scope.value(axis.text) || d_.facts.find(axis.text)) continue;
    if (axis_named(axis.text) < 0) continue;
    for (int k = 0; k < std::min(d_.grid.dims, 3); ++k) {
      if (v->parts[0].re == coordinate(k)) d_.fail(errors::direction_compared(e.span));
    }
  }
}

namespace {

/// A number in the text that has no finite value, such as 1/0 or log(0): algebra takes 0*(1/0) for
/// 0, and what was written is no number. Null where there is none.
Expr without_value(const Value& v) {
  Expr found;
  for (const Component& part : v.parts)
    for (const Expr e : {part.re, part.im}) {
      if (!e || e.is_number()) continue;
      algebra::visit(e, [&](Expr node) {
        if (found || !(node.is(Op::Pow) || node.is(Op::Log)) || !node.arg(0).is_number()) return;
        const auto value = algebra::constant(node);
        if (value && !std::isfinite(value->real)) found = node;
      });
    }
  return found;
}

}  // namespace

Value Lowerer::binary(const dsl::Expr& e, const Scope& scope) {
  Arena& arena = d_.arena();
  const std::string& op = e.text;
  if (op == "and" || op == "or") {
    return Value::of(arena.make(op == "and" ? Op::And : Op::Or,
                                {condition(*e.args[0], scope), condition(*e.args[1], scope)},
                                e.span));
  }
  if (op == "<" || op == ">" || op == "<=" || op == ">=" || op == "==" || op == "!=") {
    const auto axes = compared_axes(e, scope);
    Expr a = axes ? integer(axes->first) : real(*e.args[0], "a side of a comparison", scope);
    Expr b = axes ? integer(axes->second) : real(*e.args[1], "a side of a comparison", scope);
    if (op == ">" || op == ">=") std::swap(a, b);
    const Op kind = op == "==" || op == "!=" ? Op::Equal
                    : op == "<" || op == ">" ? Op::Less
                                             : Op::LessEqual;
    const Expr compared = arena.make(kind, {a, b}, e.span);
    return Value::of(op == "!=" ? arena.make(Op::Not, {compared}, e.span) : compared);
  }
  Value a = value(*e.args[0], scope);
  Value b = value(*e.args[1], scope);
  if (scope.reading().equation && (op == "+" || op == "-")) {
    with_noise_of_its_own(a, b);
    with_noise_of_its_own(b, a);
  }
  Value result = shaped(e, [&]() -> Value {
    if (op == "+") return add(a, b);
    if (op == "-") return subtract(a, b);
    if (op == "*") return multiply(a, b);
    if (op == "/") return divide(a, b);
    if (op == "^") return power(a, b);
    throw ShapeError(fmt::format("`{}` is not known here", op));
  });
  if (!result.scalar() || !result.parts[0].re || !result.parts[0].re.is_number()) return result;
  if (op == "/" && b.scalar() && b.parts[0].re.is_zero() && b.parts[0].real())
    return Value::of(arena.make(Op::Pow, {b.parts[0].re, arena.integer(-1)}));
  for (const Value* side : {&a, &b})
    if (const Expr none = without_value(*side)) return Value::of(none);
  return result;
}

void Lowerer::with_noise_of_its_own(Value& term, const Value& vector) {
  if (!term.scalar() || term.complex() || term.acts || term.path) return;
  if (vector.scalar() || vector.columns != 1 || vector.spinor || vector.acts) return;
  const std::vector<Expr> parts = noise_components(d_, term.parts[0].re, vector.rows);
  if (parts.empty()) return;
  term = Value{vector.rows, 1, {}};
  for (const Expr part : parts) term.parts.push_back({part, {}});
}

Value Lowerer::select(const dsl::Expr& e, const Scope& scope) {
  Arena& arena = d_.arena();
  const Expr test = condition(*e.args[1], scope);
  Value a = value(*e.args[0], scope);
  Value b = value(*e.args[2], scope);
  // 0 is a vector of zeros as well
  const auto widened = [](Value& small, const Value& wide) {
    if (!small.scalar() || wide.scalar() || !small.parts[0].re.is_zero()) return;
    small =
        Value{wide.rows, wide.columns, std::vector<Component>(wide.parts.size(), small.parts[0])};
  };
  widened(a, b);
  widened(b, a);
  if (a.acts || b.acts) {
    d_.fail(errors::wrong_shape(e.span, "`if` chooses between spinors, not between operators"));
  }
  if (a.rows != b.rows || a.columns != b.columns) {
    d_.fail(errors::wrong_shape(e.span, "both sides of `if` have the same shape"));
  }
  // a condition that is known leaves the paths of links
  if (const auto known = algebra::constant(test); known && (a.path || b.path))
    return known->real != 0 ? a : b;
  Value v{a.rows, a.columns, {}};
  v.spinor = a.spinor || b.spinor;
  for (std::size_t i = 0; i < a.parts.size(); ++i) {
    const Component x = a.parts[i], y = b.parts[i];
    Component part{arena.make(Op::Select, {test, x.re, y.re}, e.span), {}};
    if (!x.real() || !y.real()) {
      const Expr zero = arena.integer(0);
      part.im = arena.make(Op::Select, {test, x.im ? x.im : zero, y.im ? y.im : zero}, e.span);
    }
    v.parts.push_back(part);
  }
  return v;
}

Value Lowerer::unit(const dsl::Expr& e, const Scope& scope) {
  const auto it = d_.resolved.units.find(e.text);
  if (it == d_.resolved.units.end()) d_.fail(errors::unknown_unit(e.span, e.text));
  const Expr size = d_.arena().real(static_cast<long double>(it->second));
  return multiply(value(*e.args[0], scope), Value::of(snap_numbers(size)));
}

// ---- indices, neighbours, time
// -------------------------------------------------------------------

Value Lowerer::index(const dsl::Expr& e, const Scope& scope) {
  const dsl::Expr& base = *e.args[0];
  if (base.kind == ExprKind::Call && base.text == "file" && !d_.facts.find("file")) {
    return file_entry(e, scope);
  }
  if (base.kind == ExprKind::Name && !scope.value(base.text)) {
    const StateField* field = d_.field(base.text);
    if (field && field->particle) return particle_value(*field, e, scope);
    if (base.text == "noise" && d_.particles.present)
      return Value::of(noise_written(d_, e, scope.reading()));
    const NamedFact* fact = d_.facts.find(base.text);
    if (fact && fact->kind == NamedFact::Kind::Indexed && !defines_links(d_, base.text)) {
      if (fact->parameters.size() != e.args.size() - 1) {
        d_.fail(errors::wrong_shape(
            e.span, fmt::format("`{}` has {} indices", base.text, fact->parameters.size())));
      }
      Scope inner = Scope::of_definition(scope);
      for (std::size_t i = 0; i + 1 < e.args.size(); ++i) {
        if (const auto k = direction(*e.args[i + 1], scope)) {
          inner.indices.emplace(fact->parameters[i], *k);
        } else {
          inner.indices.emplace(
              fact->parameters[i],
              IndexValue{static_cast<int>(fixed_integer(*e.args[i + 1], "an index", scope))});
        }
      }
      if (!lowering_.insert(fact->name).second) d_.fail(errors::cycle(fact->span, fact->name));
      struct Leave {
        std::set<std::string>& names;
        const std::string& name;
        ~Leave() { names.erase(name); }
      } leave{lowering_, fact->name};
      return value(*fact->value, inner);
    }
  }
  if (const auto link = link_value(e, scope)) return *link;
  if (const auto gamma = gamma_matrix(e, scope)) return *gamma;
  const Value v = value(base, scope);
  if (v.acts) d_.fail(errors::wrong_shape(e.span, kOperatorAlone));
  const StateField* of_axes = base.kind == ExprKind::Name ? d_.field(base.text) : nullptr;
  const auto at = [&](std::size_t i, int size) {
    if (of_axes && of_axes->link) {
      const auto k = direction(*e.args[i], scope);
      if (k && k->direction && k->sign > 0 && k->value < size) return k->value;
    }
    const auto k = fixed_integer(*e.args[i], "an index", scope);
    if (k < 0 || k >= size) {
      d_.fail(errors::index_out_of_range(e.args[i]->span, static_cast<int>(k), size));
    }
    return static_cast<int>(k);
  };
  if (e.args.size() == 2 && v.columns == 1) return {1, 1, {v.parts[at(1, v.rows)]}};
  if (e.args.size() == 3) {
    const int row = at(1, v.rows);
    return {1, 1, {v.parts[row * v.columns + at(2, v.columns)]}};
  }
  d_.fail(errors::wrong_shape(e.span, "a vector has one index, a matrix two"));
}

int Lowerer::axis_named(const std::string& name) const {
  constexpr const char* kAxes[] = {"x", "y", "z", "t"};
  for (int axis = 0; d_.grid.present && axis < d_.grid.dims && axis < 4; ++axis) {
    if (name == kAxes[axis]) return axis;
  }
  return -1;
}

/// `k`, `-k`, `x`: an axis and a sense.
std::optional<IndexValue> Lowerer::direction(const dsl::Expr& e, const Scope& scope) {
  if (e.kind == ExprKind::Unary && e.text == "-") {
    auto k = direction(*e.args[0], scope);
    if (k) k->sign = -k->sign;
    return k;
  }
  if (e.kind != ExprKind::Name) return std::nullopt;
  if (const IndexValue* k = scope.index(e.text)) {
    IndexValue result = *k;
    return result;
  }
  if (scope.value(e.text)) return std::nullopt;
  if (const int axis = axis_named(e.text); axis >= 0) return IndexValue{axis, 1, true};
  return std::nullopt;
}

/// Binds a parameter of a function to its argument: an index stays an index.
void Lowerer::bind(const std::string& parameter, const dsl::Expr& argument, const Scope& scope,
                   Scope& inner) {
  const bool turned = argument.kind == ExprKind::Unary;
  const dsl::Expr& bare = turned ? *argument.args[0] : argument;
  const bool runs = bare.kind == ExprKind::Name && scope.index(bare.text);
  const auto k = runs ? direction(argument, scope) : std::nullopt;
  if (k && (k->direction || !turned)) {
    inner.indices.emplace(parameter, *k);
  } else {
    inner.values.emplace(parameter, value(argument, scope));
  }
}

Value Lowerer::shift(const dsl::Expr& e, const Scope& scope) {
  const dsl::Expr& where = *e.args[1];
  algebra::Offset offset;
  if (where.kind == ExprKind::List) {
    if (static_cast<int>(where.args.size()) > std::max(d_.grid.dims, 1)) {
      d_.fail(errors::wrong_shape(where.span,
                                  fmt::format("the lattice has {} dimensions", d_.grid.dims)));
    }
    for (std::size_t i = 0; i < where.args.size(); ++i) {
      const auto n = fixed_integer(*where.args[i], "a shift", scope);
      if (n < -64 || n > 64) {
        d_.fail(errors::wrong_shape(where.span, "a shift reaches at most 64 sites"));
      }
      offset.d[i] = static_cast<std::int16_t>(n);
    }
  } else {
    const auto k = direction(where, scope);
    if (!k || k->value < 0 || k->value >= d_.grid.dims) {
      d_.fail(errors::wrong_shape(where.span, "a shift goes along an axis: k, -k or (1, 0, -1)"));
    }
    offset.d[k->value] = static_cast<std::int16_t>(k->sign);
  }
  return at_neighbour(value(*e.args[0], scope), offset, e.span, scope.reading());
}

Value Lowerer::at_neighbour(const Value& of, algebra::Offset offset, dsl::Span span,
                            const Reading& reading) {
  const Value v = of.spinor ? staged(of, reading) : of;
  if (v.path) return {v.rows, v.columns, v.parts, shifted(v.path, offset, around(d_.grid))};
  Value moved{v.rows, v.columns, {}};
  moved.spinor = v.spinor;
  moved.acts = v.acts;
  moved.links = v.links;
  moved.form = v.form;
  const algebra::Mover move = of_spinors(v) ? around(d_.grid) : neighbour;
  shift_form(moved, offset, move);
  for (const Component& part : v.parts) {
    moved.parts.push_back({move(part.re, offset), part.im ? move(part.im, offset) : Expr{}});
  }
  if (v.spinor && !v.form) turn_source(moved, offset, span);
  return moved;
}

}  // namespace vphi::physics
