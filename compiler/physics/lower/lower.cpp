#include "compiler/physics/lower/lower.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "compiler/algebra/pairs.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/gauge/spin_bases.hpp"
#include "compiler/physics/chains/hmc.hpp"
#include "compiler/physics/chains/link_flow.hpp"
#include "compiler/physics/chains/sampling.hpp"
#include "compiler/physics/clauses/sweep_axes.hpp"
#include "compiler/physics/fluids/conservation.hpp"
#include "compiler/physics/lower/calculus.hpp"
#include "compiler/physics/noise/noise.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "compiler/physics/spinors/spinors.hpp"
#include "dsl/words/builtins.hpp"

namespace vphi::physics {

using algebra::Op;
using dsl::ExprKind;

namespace {

/// Terms remember where they were written.
Value marked(Value v, dsl::Span span) {
  for (const Component& part : v.parts) {
    for (const Expr e : {part.re, part.im}) {
      if (e) e->arena->mark(e, span);
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
      return marked(binary(e, scope), e.span);
    case ExprKind::Select:
      return select(e, scope);
    case ExprKind::Call:
      return marked(call(e, scope), e.span);
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

Expr Lowerer::fixed(const dsl::Expr& e, const std::string& what, const Scope& scope) {
  const Expr v = snap_numbers(real(e, what, scope));
  const auto number = algebra::constant(v);
  if (!number) {
    const std::vector<int> axes = axes_of(d_, v);
    if (!axes.empty()) {
      const Axis& axis = d_.system.axes[static_cast<std::size_t>(axes[0])];
      d_.fail(errors::swept_here(e.span, what, axis.name, axis.span));
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
  if (number != std::floor(number) || std::fabs(number) > 1e15L) {
    d_.fail(errors::not_fixed(e.span, what + " is a whole number and this"));
  }
  return static_cast<std::int64_t>(number);
}

Expr Lowerer::condition(const dsl::Expr& e, const Scope& scope) {
  return real(e, "a condition", scope);
}

// ---- names
// ---------------------------------------------------------------------------------------

Value Lowerer::name(const dsl::Expr& e, const Scope& scope) {
  if (const Value* local = scope.value(e.text)) return *local;
  if (const IndexValue* k = scope.index(e.text)) {
    const Expr own = d_.arena().site(0);
    if (k->body == IndexValue::Body::Own) return Value::of(own);
    if (k->body == IndexValue::Body::Other) return Value::of(algebra::other(own));
    return Value::of(integer(k->sign * k->value));
  }
  const Reading& reading = scope.reading();
  if (e.text == "derived" && reading.derived) return reading.derived();
  if (e.text == "derived" && !d_.field(e.text) && !d_.facts.find(e.text)) {
    d_.fail(errors::derived_without_source(e.span));
  }
  if (const StateField* field = d_.field(e.text)) return field_value(*field);
  if (const NamedFact* fact = d_.facts.find(e.text)) {
    if (fact->kind == NamedFact::Kind::Indexed) {
      d_.fail(errors::wrong_shape(e.span, fmt::format("`{}` needs its indices", e.text)));
    }
    return definition(*fact, e, scope);
  }
  if (const auto given = given_name(e.text, e.span, reading)) return *given;
  if (reading.random && dsl::find_builtin(e.text)) return reading.random(e, reading);
  if (e.text == "noise") {
    if (d_.particles.present) d_.fail(errors::not_yet(e.span, "noise that all particles share"));
    return Value::of(noise_written(d_, e, reading));
  }
  if (const dsl::Builtin* builtin = dsl::find_builtin(e.text);
      builtin && builtin->rule == dsl::Rule::Distribution) {
    d_.fail(errors::random_not_here(e.span, e.text));
  }
  for (const dsl::GivenName& given : dsl::given_names())
    if (given.name == e.text) d_.fail(errors::not_given(e.span, e.text, std::string(given.doc)));
  if (const dsl::Symbol* symbol = d_.resolved.find(e.text)) {
    d_.fail(errors::not_yet(e.span, fmt::format("`{}` here", symbol->name)));
  }
  d_.fail(errors::unknown_name(e.span, e.text));
}

Value Lowerer::field_value(const StateField& field) {
  Arena& arena = d_.arena();
  Value v{field.rows, field.columns, {}};
  v.spinor = field.spinor;
  for (const int cell : field.cells) {
    if (field.angle) {
      const Expr angle = arena.load(field.arrays[cell], {}, field.span);
      v.parts.push_back({arena.make(Op::Cos, {angle}), arena.make(Op::Sin, {angle})});
    } else if (field.complex) {
      v.parts.push_back({arena.load(field.arrays[2 * cell], {}, field.span),
                         arena.load(field.arrays[2 * cell + 1], {}, field.span)});
    } else {
      v.parts.push_back({arena.load(field.arrays[cell], {}, field.span), {}});
    }
  }
  return v;
}

Value Lowerer::field_velocity(const StateField& field, dsl::Span span, const Reading& reading) {
  const auto rate = [&](std::size_t i) {
    if (field.order == 2) return d_.arena().load(field.velocities[i], {}, span);
    const auto it = d_.rates.find(field.arrays[i]);
    if (it == d_.rates.end()) {
      d_.fail(errors::no_derivative_in_time(span, fmt::format("`{}`", field.name)));
    }
    // white noise has no value at a moment: outside of equations x' is the drift
    return reading.equation ? it->second : split_noise(it->second).rest;
  };
  Value v{field.rows, field.columns, {}};
  for (const int cell : field.cells) {
    if (field.complex)
      v.parts.push_back({rate(2 * cell), rate(2 * cell + 1)});
    else
      v.parts.push_back({rate(cell), {}});
  }
  return v;
}

std::optional<Value> Lowerer::given_name(const std::string& text, dsl::Span span,
                                         const Reading& reading) {
  Arena& arena = d_.arena();
  const Grid& grid = d_.grid;
  const auto spacing = [&] { return keep_parameters_ ? arena.symbol("dx", span) : grid.dx; };
  const auto coordinate = [&](int axis) {
    return (arena.site(axis) - arena.rational(grid.extent[axis] - 1, 2)) * spacing();
  };
  if (grid.present) {
    constexpr const char* kAxes[] = {"x", "y", "z"};
    for (int axis = 0; axis < std::min(grid.dims, 3); ++axis) {
      if (text == kAxes[axis]) return Value::of(coordinate(axis));
    }
    if (text == "r") {
      Expr sum = arena.integer(0);
      for (int axis = 0; axis < grid.dims; ++axis) sum = sum + algebra::pow(coordinate(axis), 2);
      return Value::of(algebra::pow(sum, arena.rational(1, 2)));
    }
    if (text == "dx") return Value::of(spacing());
    if (text == "volume") {
      return Value::of(arena.integer(grid.sites()) * algebra::pow(spacing(), grid.dims));
    }
  }
  if (text == "t") return Value::of(d_.time());
  if (text == "step" || ((text == "trajectory" || text == "sweep") && is_chain(d_.system.dynamics)))
    return Value::of(arena.symbol("step", span));
  if ((text == Trajectory::kDelta || text == Trajectory::kAccept) && is_hmc(d_))
    return Value::of(arena.symbol(text, span));
  const auto* chain = std::get_if<MarkovChain>(&d_.system.dynamics);
  if (text == MarkovChain::kAccept && chain && chain->proposals > 0)
    return Value::of(arena.symbol(text, span));
  if (text == "dt" && d_.dt) return Value::of(d_.dt);
  if (d_.expanding()) {
    if (text == d_.background.scale) return Value::of(d_.scale());
    if (text == "H" || text == "frw.H") return Value::of(d_.hubble());
  }
  if (d_.system.conservation) {
    if (const auto v = fluid_name(d_, text)) return Value::of(*v);
  }
  if (text == "gamma5" && has_fermions()) return spin_value(arena, gauge::gamma5_of(d_.gammas));
  if (text == "gauss" && has_links()) return Value::of(gauss(span));
  if (text == "polyakov" && has_links()) return polyakov(span, reading);
  if (d_.hamiltonian && text == "kinetic" && d_.hamiltonian_density) {
    return Value::of(kinetic_part());
  }
  if (d_.hamiltonian && text == "gradient" && d_.hamiltonian_density && grid.present) {
    return Value::of(gradient_part());
  }
  if (d_.hamiltonian && (text == "kinetic" || text == "gradient")) return std::nullopt;
  if (d_.expanding() || d_.potential) {
    if (text == "rho") return Value::of(energy_density());
    if (text == "p") return Value::of(pressure());
    if (text == "w") {
      return Value::of(arena.make(Op::Mean, {pressure()}) /
                       arena.make(Op::Mean, {energy_density()}));
    }
    if (text == "kinetic" || text == "gradient") {
      Expr sum = arena.integer(0);
      for (const StateField& field : d_.fields) {
        if (d_.gravitates(field)) {
          sum = sum + (text == "kinetic" ? kinetic_density(field) : gradient_density(field));
        }
      }
      return Value::of(sum);
    }
  }
  if (const dsl::BuiltinConstant* constant = dsl::find_constant(text)) {
    if (text == "pi") {
      return Value::of(keep_parameters_ ? arena.symbol("pi", span) : arena.real(acosl(-1.0L)));
    }
    return Value::of(arena.real(constant->value));
  }
  return std::nullopt;
}

bool Lowerer::holds_momentum(Expr term) const {
  std::set<int> momenta;
  bool momentum = false;
  for (const StateField& field : d_.fields) {
    if (!field.hamiltonian) continue;
    if (momentum) momenta.insert(field.arrays.begin(), field.arrays.end());
    momentum = !momentum;
  }
  return algebra::contains(term,
                           [&](Expr e) { return e.is(Op::Load) && momenta.contains(e->index); });
}

/// The total of the terms of H that hold a momentum.
Expr Lowerer::kinetic_part() {
  Expr sum = integer(0);
  for (const Expr term : flat_terms(d_.hamiltonian_density))
    if (holds_momentum(term)) sum = sum + term;
  return d_.arena().make(Op::Total, {sum});
}

/// The total of the other terms of H that read more than their own site.
Expr Lowerer::gradient_part() {
  const auto elsewhere = [](Expr e) {
    if (e.is(Op::Stencil)) return true;
    return e.is(Op::Load) && (is_gradient(e->index) || !(e->offset == algebra::Offset{}));
  };
  Expr sum = integer(0);
  for (const Expr term : flat_terms(d_.hamiltonian_density))
    if (!holds_momentum(term) && algebra::contains(term, elsewhere)) sum = sum + term;
  return d_.arena().make(Op::Total, {sum});
}

Expr Lowerer::kinetic_density(const StateField& field) {
  Arena& arena = d_.arena();
  Expr sum = arena.integer(0);
  for (const int velocity : field.velocities) {
    sum = sum + algebra::pow(arena.load(velocity), 2);
  }
  return arena.rational(field.norm(), 2) * sum;
}

Expr Lowerer::gradient_density(const StateField& field) {
  Arena& arena = d_.arena();
  Expr sum = arena.integer(0);
  if (!d_.grid.present) return sum;
  for (const int array : field.arrays) sum = sum + arena.load(gradient_of(array));
  const Expr metric = d_.expanding() ? algebra::pow(d_.scale(), -2) : arena.integer(1);
  return arena.rational(field.norm(), 2) * metric * sum;
}

// rho = sum(phidot^2/2 + (grad phi)^2/(2 a^2)) + V + rho_r/a^4 + rho_m/a^3  (docs/formulas.md 1.1)
Expr Lowerer::energy_density() {
  Arena& arena = d_.arena();
  Expr sum = d_.potential ? d_.potential : arena.integer(0);
  // a written H is the sum of comoving densities: rho = h/a^3  (docs/rules.md rule 16)
  if (d_.hamiltonian)
    sum = sum + distribute(algebra::pow(d_.scale_or_one(), -3), d_.hamiltonian_density);
  for (const StateField& field : d_.fields) {
    if (d_.gravitates(field)) sum = sum + kinetic_density(field) + gradient_density(field);
  }
  const Background& b = d_.background;
  if (b.radiation) sum = sum + b.radiation * algebra::pow(d_.scale(), -4);
  if (b.matter) sum = sum + b.matter * algebra::pow(d_.scale(), -3);
  return sum;
}

// docs/formulas.md 1.1:
// p = sum(phidot^2/2 - (grad phi)^2/(6 a^2)) - V - (a/3) dV/da + rho_r/(3 a^4).
// With the kinetic energy and the gradients it is -d(a^3 rho)/da / (3 a^2) at fixed canonical
// momenta, so that d(rho)/dt = -3 H (rho + p) whatever the potential holds of a.
Expr Lowerer::pressure() {
  Arena& arena = d_.arena();
  Expr sum = d_.potential ? -d_.potential : arena.integer(0);
  if (d_.potential && d_.expanding() && algebra::depends_on(d_.potential, d_.scale())) {
    const Expr slope = algebra::derivative(d_.potential, d_.scale());
    sum = sum - distribute(d_.scale() / arena.integer(3), slope);
  }
  // p = -d(h, a)/(3 a^2)  (docs/rules.md rule 16)
  if (d_.hamiltonian && d_.expanding()) {
    sum = sum - distribute(algebra::pow(d_.scale(), -2) / arena.integer(3),
                           algebra::derivative(d_.hamiltonian_density, d_.scale()));
  }
  for (const StateField& field : d_.fields) {
    if (!d_.gravitates(field)) continue;
    sum = sum + kinetic_density(field) - gradient_density(field) / arena.integer(3);
  }
  if (d_.background.radiation) {
    sum = sum + d_.background.radiation / arena.integer(3) * algebra::pow(d_.scale(), -4);
  }
  return sum;
}

Value Lowerer::definition(const NamedFact& fact, const dsl::Expr& at, const Scope& scope) {
  const Scope* dynamic = scope.dynamic_part();
  const bool swept = fact.kind == NamedFact::Kind::Swept;
  if (fact.clause && fact.kind != NamedFact::Kind::Potential) use_source(d_, fact);
  const bool parameter = fact.kind == NamedFact::Kind::Parameter || swept;
  if (parameter && keep_parameters_) return Value::of(d_.arena().symbol(fact.name, at.span));
  if (swept) return Value::of(swept_value(d_, fact.name, at.span));
  const bool local = dynamic != nullptr || fact.kind == NamedFact::Kind::Function;
  if (!local) {
    if (const auto it = known_.find(fact.name); it != known_.end()) return it->second;
  }
  if (!lowering_.insert(fact.name).second) d_.fail(errors::cycle(fact.span, fact.name));
  struct Leave {
    std::set<std::string>& names;
    const std::string& name;
    ~Leave() { names.erase(name); }
  } leave{lowering_, fact.name};
  Scope inner = Scope::of_definition(scope);
  if (fact.kind == NamedFact::Kind::Function) {
    // p means p(eps, rho), with the names looked up at the place of p (docs/rules.md rule 10)
    for (const std::string& parameter_name : fact.parameters) {
      dsl::Expr argument;
      argument.kind = ExprKind::Name;
      argument.span = at.span;
      argument.text = parameter_name;
      inner.values.emplace(parameter_name, name(argument, scope));
    }
  }
  Value v = value(*fact.value, inner);
  if (!local) known_.emplace(fact.name, v);
  return v;
}

Value Lowerer::user_function(const NamedFact& fact, const dsl::Expr& e, const Scope& scope) {
  if (e.args.size() != fact.parameters.size()) {
    d_.fail(errors::wrong_shape(
        e.span, fmt::format("`{}` takes {} arguments", fact.name, fact.parameters.size())));
  }
  if (lowering_.contains(fact.name)) d_.fail(errors::cycle(e.span, fact.name));
  Scope inner = Scope::of_definition(scope);
  Scope options;
  options.parent = inner.parent;
  options.dynamic = true;
  for (const dsl::NamedArgument& option : e.named) {
    options.values.emplace(option.name, value(*option.value, scope));
  }
  if (!e.named.empty()) inner.parent = &options;
  for (std::size_t i = 0; i < e.args.size(); ++i) {
    inner.values.emplace(fact.parameters[i], value(*e.args[i], scope));
  }
  lowering_.insert(fact.name);
  struct Leave {
    std::set<std::string>& names;
    const std::string& name;
    ~Leave() { names.erase(name); }
  } leave{lowering_, fact.name};
  return value(*fact.value, inner);
}

// ---- arithmetic
// ----------------------------------------------------------------------------------

/// `k == t` of a direction k and the name of an axis: their numbers.
std::optional<std::pair<int, int>> Lowerer::compared_axes(const dsl::Expr& e,
                                                          const Scope& scope) const {
  bool runs = false;  // at least one of them is an index
  const auto axis = [&](const dsl::Expr& side) -> std::optional<int> {
    if (side.kind != ExprKind::Name || scope.value(side.text)) return std::nullopt;
    if (const IndexValue* k = scope.index(side.text)) {
      if (!k->direction) return std::nullopt;
      runs = true;
      return k->value;
    }
    const int named = d_.facts.find(side.text) ? -1 : axis_named(side.text);
    return named < 0 ? std::nullopt : std::optional(named);
  };
  const auto a = axis(*e.args[0]), b = axis(*e.args[1]);
  if (!a || !b || !runs) return std::nullopt;
  return std::pair(*a, *b);
}

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
  return shaped(e, [&]() -> Value {
    if (op == "+") return add(a, b);
    if (op == "-") return subtract(a, b);
    if (op == "*") return multiply(a, b);
    if (op == "/") return divide(a, b);
    if (op == "^") return power(a, b);
    throw ShapeError(fmt::format("`{}` is not known here", op));
  });
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
    if (fact && fact->kind == NamedFact::Kind::Indexed) {
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
  if (const int axis = axis_named(e.text); axis >= 0) return IndexValue{axis, 1, true};
  return std::nullopt;
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
  Value v = value(*e.args[0], scope);
  if (v.spinor) v = staged(v, scope.reading());
  if (v.path) {
    LinkPath path = *v.path;
    path.start = gauge::operator+(path.start, offset);
    return {v.rows, v.columns, v.parts, std::make_shared<const LinkPath>(std::move(path))};
  }
  Value moved{v.rows, v.columns, {}};
  moved.spinor = v.spinor;
  moved.acts = v.acts;
  moved.links = v.links;
  moved.form = v.form;
  shift_form(moved, offset);
  for (const Component& part : v.parts) {
    moved.parts.push_back(
        {neighbour(part.re, offset), part.im ? neighbour(part.im, offset) : Expr{}});
  }
  return moved;
}

Value Lowerer::prime(const dsl::Expr& e, const Scope& scope) {
  const dsl::Expr& base = *e.args[0];
  Value v;
  int left = e.primes;
  if (base.kind == ExprKind::Name && !scope.value(base.text) && d_.field(base.text)) {
    v = field_velocity(*d_.field(base.text), e.span, scope.reading());
    --left;
  } else {
    v = value(base, scope);
  }
  for (; left > 0; --left) v = time_derivative(v, e.span);
  return v;
}

Value Lowerer::time_derivative(const Value& v, dsl::Span span) {
  Value result{v.rows, v.columns, {}};
  for (const Component& part : v.parts) {
    result.parts.push_back(
        {time_derivative(part.re, span), part.im ? time_derivative(part.im, span) : Expr{}});
  }
  return result;
}

// The chain rule along the equations of motion: each read, reduction and symbol is a variable of
// its own whose derivative is known.
Expr Lowerer::time_derivative(Expr e, dsl::Span span) {
  Arena& arena = d_.arena();
  std::vector<std::pair<Expr, Expr>> leaves;  // stand-in, derivative
  std::unordered_map<const algebra::Node*, Expr> stand_in, back;
  const std::function<void(Expr)> collect = [&](Expr node) {
    if (stand_in.contains(node.get())) return;
    Expr rate;
    if (node.is(Op::Load)) {
      const int array = node->index;
      if (is_gradient(array)) d_.fail(errors::not_yet(span, "the time derivative of an energy"));
      if (samples(d_)) d_.fail(errors::no_derivative_in_time(span, "what a Markov chain draws"));
      if (flows(d_)) d_.fail(errors::no_rate_of_links(span));
      for (const StateField& field : d_.fields) {
        for (std::size_t i = 0; i < field.arrays.size(); ++i) {
          if (field.arrays[i] == array && field.order == 2) rate = arena.load(field.velocities[i]);
        }
      }
      if (!rate) {
        const auto it = d_.rates.find(array);
        if (it == d_.rates.end()) d_.fail(errors::no_derivative_in_time(span, "this"));
        rate = it->second;
      }
      rate = neighbour(rate, node->offset);
    } else if (node.is(Op::Stencil)) {
      rate = apply_stencil(arena, node->index, time_derivative(node.arg(0), span));
    } else if ((node.is(Op::Mean) || node.is(Op::Total)) && flows(d_)) {
      rate = rate_along_flow(node, span);
    } else if (node.is(Op::Mean) || node.is(Op::Total)) {
      rate = arena.make(node.op(), {time_derivative(node.arg(0), span)});
    } else if (node.is(Op::Minimum) || node.is(Op::Maximum)) {
      d_.fail(errors::no_derivative_in_time(span, "an extremum"));
    } else if (node.is(Op::Symbol)) {
      const bool stepwise = std::ranges::any_of(
          d_.system.passages, [&](const FirstPassage& f) { return f.symbol == node->name; });
      if (stepwise) d_.fail(errors::no_derivative_in_time(span, "what is known step by step"));
      if (node == d_.time())
        rate = arena.integer(1);
      else if (d_.expanding() && node == d_.scale())
        rate = d_.scale() * d_.hubble();
      else if (d_.expanding() && node == d_.hubble()) {
        // Hdot = -(<rho> + <p>)/(2 m_pl^2)
        rate = arena.rational(-1, 2) / d_.background.planck2 *
               arena.make(Op::Mean, {energy_density() + pressure()});
      }
    } else {
      for (const Expr arg : node.args()) collect(arg);
      return;
    }
    if (!rate) return;
    const Expr name = arena.symbol(fmt::format("rate of {}", stand_in.size()));
    stand_in.emplace(node.get(), name);
    back.emplace(name.get(), node);
    leaves.emplace_back(name, rate);
  };
  collect(e);
  const Expr replaced = algebra::substitute(e, stand_in);
  Expr sum = arena.integer(0);
  for (const auto& [name, rate] : leaves) {
    const Expr slope = algebra::derivative(replaced, name);
    if (!slope.is_zero()) sum = sum + algebra::substitute(slope, back) * rate;
  }
  return sum;
}

}  // namespace vphi::physics
