// Names: local ones, declared ones, and those of the language.
#include "compiler/physics/lower/lower.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "compiler/algebra/pairs.hpp"
#include "compiler/gauge/spin_bases.hpp"
#include "compiler/physics/chains/exchange.hpp"
#include "compiler/physics/chains/hmc.hpp"
#include "compiler/physics/clauses/output_errors.hpp"
#include "compiler/physics/clauses/sweep_axes.hpp"
#include "compiler/physics/fields/coordinates.hpp"
#include "compiler/physics/fluids/conservation.hpp"
#include "compiler/physics/noise/noise.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "compiler/physics/spinors/spinors.hpp"
#include "compiler/physics/starts/init_errors.hpp"
#include "compiler/physics/starts/kept_start.hpp"
#include "dsl/words/builtins.hpp"
#include "dsl/words/sweep_words.hpp"

namespace vphi::physics {

namespace {

/// An unknown name; where a range of it stands behind another output, that is said.
dsl::Diagnostic unknown_in_output(const Context& d, const dsl::Expr& name) {
  dsl::Diagnostic told = errors::unknown_name(name.span, name.text);
  for (const char* outputs : {"every", "at end"}) {
    for (const dsl::Clause* clause : d.resolved.clauses(outputs)) {
      const dsl::ExprPtr range = dsl::option(*clause, name.text);
      if (!range || range->kind != dsl::ExprKind::Range) continue;
      told.labels.push_back({range->span, "for the output before it alone"});
      told.rule = "a range belongs to the output that it stands behind";
      told.hint = fmt::format("write `{} = {}` behind each output that has the index", name.text,
                              written(d, range->span));
    }
  }
  return told;
}

}  // namespace

using algebra::Op;
using dsl::ExprKind;

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
    if (const auto own = action_at_end(d_, e.text)) return Value::of(*own);
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
    if (given.name == e.text && given.type == dsl::Type::Base::Unknown)
      d_.fail(errors::several_outputs(e.span, e.text, std::string(given.doc)));
    else if (given.name == e.text)
      d_.fail(errors::not_given(e.span, e.text, std::string(given.doc)));
  if (const dsl::Symbol* symbol = d_.resolved.find(e.text)) {
    d_.fail(errors::not_yet(e.span, fmt::format("`{}` here", symbol->name)));
  }
  d_.fail(unknown_in_output(d_, e));
}

Value Lowerer::algebra_value(const gauge::Group& group, const std::vector<Expr>& u) {
  Arena& arena = d_.arena();
  Value v{group.n, group.n, {}};
  v.parts.assign(static_cast<std::size_t>(group.n * group.n),
                 Component{arena.integer(0), arena.integer(0)});
  for (std::size_t a = 0; a < u.size(); ++a) {
    std::vector<Expr> unit(u.size(), arena.integer(0));
    unit[a] = arena.integer(1);
    const gauge::Matrix generator = gauge::hermitian(group, unit);
    for (std::size_t i = 0; i < v.parts.size(); ++i) {
      v.parts[i].re = v.parts[i].re + generator.parts[i].re * u[a];
      v.parts[i].im = v.parts[i].im + generator.parts[i].im * u[a];
    }
  }
  return v;
}

Value Lowerer::field_value(const StateField& field) {
  Arena& arena = d_.arena();
  if (field.algebra && !field.link) {
    std::vector<Expr> u;
    for (const int array : field.arrays) u.push_back(arena.load(array, {}, field.span));
    return algebra_value(*field.algebra, u);
  }
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
  if (field.algebra && !field.link) {
    std::vector<Expr> u;
    for (std::size_t i = 0; i < field.arrays.size(); ++i) u.push_back(rate(i));
    return algebra_value(*field.algebra, u);
  }
  Value v{field.rows, field.columns, {}};
  for (const int cell : field.cells) {
    if (field.complex)
      v.parts.push_back({rate(2 * cell), rate(2 * cell + 1)});
    else
      v.parts.push_back({rate(cell), {}});
  }
  return v;
}

Expr Lowerer::spacing(dsl::Span span) const {
  return keep_parameters_ ? d_.arena().symbol("dx", span) : d_.grid.dx;
}

Expr Lowerer::coordinate(int axis, dsl::Span span) const {
  Arena& arena = d_.arena();
  const std::int64_t last = d_.grid.extent[static_cast<std::size_t>(axis)] - 1;
  return (arena.site(axis) - arena.rational(last, 2)) * spacing(span);
}

std::optional<Value> Lowerer::given_name(const std::string& text, dsl::Span span,
                                         const Reading& reading) {
  Arena& arena = d_.arena();
  const Grid& grid = d_.grid;
  if (grid.present) {
    constexpr const char* kAxes[] = {"x", "y", "z"};
    for (int axis = 0; axis < std::min(grid.dims, 3); ++axis) {
      if (text == kAxes[axis]) return Value::of(coordinate(axis, span));
    }
    if (text == "r") {
      Expr sum = arena.integer(0);
      for (int axis = 0; axis < grid.dims; ++axis)
        sum = sum + algebra::pow(coordinate(axis, span), 2);
      return Value::of(algebra::pow(sum, arena.rational(1, 2)));
    }
    if (text == "dx") return Value::of(spacing(span));
    if (text == "volume") {
      return Value::of(arena.integer(grid.sites()) * algebra::pow(spacing(span), grid.dims));
    }
  }
  if (text == "t") return Value::of(d_.time());
  if (text == "step" || ((text == "trajectory" || text == "sweep") && is_chain(d_.dynamics)))
    return Value::of(arena.symbol("step", span));
  if ((text == Trajectory::kDelta || text == Trajectory::kAccept || text == kReversibility) &&
      is_hmc(d_))
    return Value::of(arena.symbol(text, span));
  if (text == kDraws && dsl::keep_item(d_.resolved)) return Value::of(arena.symbol(text, span));
  const auto* chain = std::get_if<MarkovChain>(&d_.dynamics);
  if (text == MarkovChain::kAccept && chain && chain->proposals > 0)
    return Value::of(arena.symbol(text, span));
  const auto exchanged =
      text == "exchanged" || text == "replica" ? exchange_axis(d_) : std::nullopt;
  if (exchanged) {
    if (*exchanged < 0) return Value::of(arena.integer(0));  // one value: nothing is exchanged
    const auto named = [&](const char* name) { return arena.symbol(name, span); };
    if (text == "replica") return Value::of(named(Exchange::kReplica));
    return Value::of(named(Exchange::kMade) /
                     arena.make(Op::Max, {named(Exchange::kTried), arena.integer(1)}));
  }
  if (tolerance_of(d_.dynamics) != nullptr) {
    if (text == "dt") return Value::of(arena.symbol(Tolerance::kTaken, span));
    if (text == "accepted") return Value::of(arena.symbol(Tolerance::kAccepted, span));
    if (text == "rejected") return Value::of(arena.symbol(Tolerance::kRejected, span));
  }
  if (text == "dt" && d_.dt) return Value::of(d_.dt);
  if (d_.expanding()) {
    if (text == d_.background.scale) return Value::of(named_scale(d_));
    if (text == "H" || text == "frw.H") return Value::of(named_hubble(d_));
  }
  if (d_.conservation) {
    if (const auto v = fluid_name(d_, text)) return Value::of(*v);
  }
  if (text == "gamma5" && has_fermions()) {
    if (d_.spins == 1)
      d_.fail(errors::wrong_shape(span, "a spinor(1) has one component of spin, and no gammas"));
    return spin_value(arena, gauge::gamma5_of(d_.gammas));
  }
  if (text == "gauss" && has_links()) return Value::of(gauss(span));
  if (text == "polyakov" && has_links()) return polyakov(span, reading);
  if (d_.hamiltonian && text == "kinetic" && d_.hamiltonian_density) {
    return Value::of(kinetic_part());
  }
  if (d_.hamiltonian && text == "gradient" && d_.hamiltonian_density && grid.present) {
    return Value::of(gradient_part());
  }
  if (d_.hamiltonian && (text == "kinetic" || text == "gradient")) return std::nullopt;
  if (d_.expanding() || d_.potential || d_.lagrangian) {
    if (text == "rho") return Value::of(energy_density());
    if (text == "p") return Value::of(pressure());
    if (text == "w") {
      return Value::of(arena.make(Op::Mean, {pressure()}) /
                       arena.make(Op::Mean, {energy_density()}));
    }
    if (d_.lagrangian && text == "kinetic") return Value::of(lagrangian_kinetic());
    if (d_.lagrangian && text == "gradient") return Value::of(lagrangian_gradient());
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
    for (const std::string& parameter : fact.parameters) {
      dsl::Expr argument;
      argument.kind = ExprKind::Name;
      argument.span = at.span;
      argument.text = parameter;
      bind(parameter, argument, scope, inner);
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
  for (std::size_t i = 0; i < e.args.size(); ++i)
    bind(fact.parameters[i], *e.args[i], scope, inner);
  lowering_.insert(fact.name);
  struct Leave {
    std::set<std::string>& names;
    const std::string& name;
    ~Leave() { names.erase(name); }
  } leave{lowering_, fact.name};
  return value(*fact.value, inner);
}

}  // namespace vphi::physics
