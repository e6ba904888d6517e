#include "compiler/physics/fluids/conservation.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include <fmt/format.h>

#include "compiler/algebra/transform.hpp"
#include "compiler/physics/fields/coordinates.hpp"
#include "compiler/physics/fields/program_units.hpp"
#include "compiler/physics/fluids/conservation_errors.hpp"
#include "compiler/physics/fluids/curvature.hpp"
#include "compiler/physics/fluids/diffusion.hpp"
#include "compiler/physics/fluids/fluid_states.hpp"
#include "compiler/physics/fluids/flux_parts.hpp"
#include "compiler/physics/fluids/recovery_equation.hpp"
#include "compiler/physics/fluids/relaxation.hpp"
#include "compiler/physics/fluids/signals.hpp"
#include "compiler/physics/fluids/wave_check.hpp"
#include "compiler/physics/lower/angles.hpp"
#include "compiler/physics/lower/calculus.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "compiler/physics/stages/checks.hpp"
#include "compiler/physics/starts/init_errors.hpp"
#include "program/scalar_names.hpp"

namespace vphi::physics {

using algebra::Op;
using dsl::ExprKind;

const dsl::Item* law_of(const dsl::Clause& clause) {
  if (clause.items.empty()) return nullptr;
  const dsl::Item& item = clause.items.front();
  return item.head && item.relation == dsl::Item::Relation::Equals ? &item : nullptr;
}

namespace {

/// Reads the right side of one conservation law: fluxes, which are of the state, and sources, which
/// may hold derivatives in time too.
class FluxReader {
 public:
  FluxReader(const Equations& d, Lowerer& of_state, Lowerer& of_sources, Law& law)
      : d_(d), lower_(of_state), of_sources_(of_sources), law_(law) {
    reading_.equation = true;
  }

  /// Reads the terms of a law, each a flux or a source.
  void read(const dsl::Expr& e) {
    read(e, 1);
    if (law_.curl && other_flux_)
      d_.fail(errors::not_yet(law_.span, "another flux beside `curl` in a law"));
  }

 private:
  void read(const dsl::Expr& e, int sign) {
    if (e.kind == ExprKind::Binary && (e.text == "+" || e.text == "-")) {
      read(*e.args[0], sign);
      read(*e.args[1], e.text == "+" ? sign : -sign);
    } else if (e.kind == ExprKind::Unary && e.text == "-") {
      read(*e.args[0], -sign);
    } else if (is_call(e, "div", 1)) {
      divergence(*e.args[0], sign);
    } else if (is_call(e, "grad", 1)) {
      gradient(e, sign);
    } else if (is_call(e, "curl", 1)) {
      curl(e, sign);
    } else if (is_call(e, "d", 2) && axis_of(*e.args[1]) >= 0) {
      along(e, axis_of(*e.args[1]), sign);
    } else {
      source(e, sign);
    }
  }

  static bool is_call(const dsl::Expr& e, const char* name, std::size_t args) {
    return e.kind == ExprKind::Call && e.text == name && e.args.size() == args;
  }
  int axis_of(const dsl::Expr& e) const {
    constexpr const char* kAxes[] = {"x", "y", "z"};
    for (int axis = 0; axis < std::min(d_.grid.dims, 3); ++axis) {
      if (e.kind == ExprKind::Name && e.text == kAxes[axis]) return axis;
    }
    return -1;
  }

  std::size_t components() const { return law_.arrays.size(); }
  void add_flux(std::size_t component, int axis, Expr value, int sign) {
    Expr& flux = law_.flux[component][static_cast<std::size_t>(axis)];
    flux = sign > 0 ? flux + value : flux - value;
  }
  void add_other_flux(std::size_t component, int axis, Expr value, int sign) {
    other_flux_ = true;
    add_flux(component, axis, value, sign);
  }
  Expr real_part(const dsl::Expr& e, const Component& c) {
    if (!c.real() && !c.im.is_zero()) d_.fail(errors::not_real(e.span, "a flux"));
    return c.re;
  }

  /// Rows: components of the quantity; columns: axes. A product of two vectors is their outer one.
  Value matrix(const dsl::Expr& e) {
    if (e.kind == ExprKind::Binary && e.text == "*") {
      const Value a = matrix(*e.args[0]), b = matrix(*e.args[1]);
      if (a.rows > 1 && a.columns == 1 && b.rows > 1 && b.columns == 1) {
        Value outer{a.rows, b.rows, {}};
        for (const Component& row : a.parts) {
          for (const Component& column : b.parts) outer.parts.push_back(multiply(row, column));
        }
        return outer;
      }
      return shaped(e, [&] { return multiply(a, b); });
    }
    if (e.kind == ExprKind::Binary && (e.text == "+" || e.text == "-")) {
      const Value a = matrix(*e.args[0]), b = matrix(*e.args[1]);
      return shaped(e, [&] { return e.text == "+" ? add(a, b) : subtract(a, b); });
    }
    if (e.kind == ExprKind::Binary && e.text == "/") {
      const Value a = matrix(*e.args[0]), b = matrix(*e.args[1]);
      return shaped(e, [&] { return divide(a, b); });
    }
    if (e.kind == ExprKind::Unary && e.text == "-") return negate(matrix(*e.args[0]));
    return lower_.value(e, scope_);
  }
  template <class Work>
  Value shaped(const dsl::Expr& e, Work work) {
    try {
      return work();
    } catch (const ShapeError& error) {
      d_.fail(errors::wrong_shape(e.span, error.what()));
    }
  }

  void divergence(const dsl::Expr& e, int sign) {
    const Value v = matrix(e);
    const auto dims = static_cast<std::size_t>(d_.grid.dims), n = components();
    if (v.parts.size() != n * dims) {
      d_.fail(errors::wrong_shape(
          e.span, fmt::format("the flux of `{}` has one part for each of its {} component{} and "
                              "each of the {} ax{}",
                              law_.name, n, n == 1 ? "" : "s", dims, dims == 1 ? "is" : "es")));
    }
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = 0; k < dims; ++k) {
        add_other_flux(i, static_cast<int>(k), real_part(e, v.parts[i * dims + k]), sign);
      }
    }
  }

  void gradient(const dsl::Expr& e, int sign) {
    const Expr value = lower_.real(*e.args[0], "what a gradient is taken of", scope_);
    if (!law_.isotropic) law_.isotropic = d_.arena().integer(0);
    law_.isotropic = sign > 0 ? law_.isotropic + value : law_.isotropic - value;
    if (components() != static_cast<std::size_t>(d_.grid.dims)) {
      d_.fail(errors::wrong_shape(
          e.span,
          fmt::format("`{}` has no component for each axis: it takes no gradient", law_.name)));
    }
    for (std::size_t i = 0; i < components(); ++i)
      add_other_flux(i, static_cast<int>(i), value, sign);
  }

  /// (curl E)_i = sum_jk eps_ijk d_j E_k; in two dimensions E is the component along the third
  /// axis.
  void curl(const dsl::Expr& e, int sign) {
    const Value v = lower_.value(*e.args[0], scope_);
    const int dims = d_.grid.dims;
    if (dims < 2 || components() != static_cast<std::size_t>(dims) ||
        v.parts.size() != (dims == 2 ? 1U : 3U)) {
      d_.fail(errors::wrong_shape(
          e.span,
          fmt::format("the curl in the law of `{}` is of a vector with three components, or "
                      "in two dimensions of a number, and has a component for each axis",
                      law_.name)));
    }
    law_.curl = true;
    for (int k = dims == 2 ? 2 : 0; k < 3; ++k) {
      const int i = (k + 1) % 3, j = (k + 2) % 3;
      const Expr along = real_part(e, v.parts[dims == 2 ? 0 : static_cast<std::size_t>(k)]);
      add_flux(static_cast<std::size_t>(i), j, along, sign);
      add_flux(static_cast<std::size_t>(j), i, along, -sign);
    }
  }

  void along(const dsl::Expr& e, int axis, int sign) {
    const Value v = lower_.value(*e.args[0], scope_);
    if (v.parts.size() != components()) {
      d_.fail(errors::wrong_shape(e.span,
                                  fmt::format("`{}` has {} components", law_.name, components())));
    }
    for (std::size_t i = 0; i < components(); ++i) {
      add_other_flux(i, axis, real_part(e, v.parts[i]), sign);
    }
  }

  /// A source on the right side of U' = -(...); `sign` turns round.
  void source(const dsl::Expr& e, int sign) {
    const Value v = of_sources_.value(e, scope_);
    if (v.parts.size() != components()) {
      d_.fail(errors::wrong_shape(
          e.span, fmt::format("the source of `{}` has {} components", law_.name, components())));
    }
    for (std::size_t i = 0; i < components(); ++i) {
      const Expr value = real_part(e, v.parts[i]);
      law_.source[i] = sign > 0 ? law_.source[i] - value : law_.source[i] + value;
    }
  }

  const Equations& d_;
  Lowerer &lower_, &of_sources_;
  Law& law_;
  bool other_flux_ = false;  ///< than that of a curl
  Reading reading_;
  Scope scope_ = Scope::in(reading_);
};

/// What this version cannot put beside laws.
void refuse_beside_laws(const Equations& d) {
  if (const dsl::Clause* clause = d.resolved.clause("rescale"))
    d.fail(errors::not_yet(clause->keyword_span, "`rescale` beside conservation laws"));
  for (const StateField& field : d.fields) {
    if (field.beside_laws() && field.spinor)
      d.fail(errors::not_yet(field.span, "spinors beside conservation laws"));
  }
}

/// rho and p of an expanding box are made of the laws.
void refuse_energies_in_laws(const Equations& d) {
  if (!d.expanding()) return;
  for (const char* keyword : {"conserve", "relax"})
    for (const dsl::Clause* clause : d.resolved.clauses(keyword))
      for (const dsl::Item& item : clause->items)
        if (item.value) refuse_energies(d, *item.value, "conservation law");
}

/// The mean energy closes the metric; what the laws take from it must be what they say of p.
void check_closed(const Equations& d, const std::vector<Law>& laws) {
  if (d.background.metric != Metric::SelfConsistent) return;
  const Expr slope = d.arena().symbol(program::slope_of(d.background.scale));
  for (const Law& law : laws) {
    if (!law.through.empty() && law.isotropic)
      d.fail(errors::not_yet(law.span,
                             "derivatives in a stress beside a metric that follows the averages"));
    for (const Component& density : law.density.parts)
      if (algebra::depends_on(density.re, slope))
        d.fail(errors::not_yet(law.span, "H in the density of a law"));
  }
}

/// The gradient energies of fields, which sources may hold, in units of the lattice.
Expr with_gradients(const Equations& d, Expr source) {
  return algebra::rewrite(source, [&](Expr node) -> Expr {
    if (node.is(Op::Symbol) && node->name == "dx") return d.grid.dx;
    if (!node.is(Op::Load) || !is_gradient(node->index)) return node;
    const Expr square = gradient_square(d, node->index - kGradientBase, d.grid.dx);
    return neighbour(square, node->offset);
  });
}

}  // namespace

void refuse_derivatives_of_fields(const Equations& d, Expr e, dsl::Span span) {
  const auto refuse = [&](int array) {
    const StateField* field = d.field_of(is_gradient(array) ? array - kGradientBase : array);
    if (field && field->beside_laws())
      d.fail(errors::derivative_at_face(span, field->name, field->span));
  };
  for (const Expr read : algebra::reads(e)) {
    if (const StateField* f = read.is(Op::Load) ? d.field_of(read->index) : nullptr; f && f->link)
      d.fail(errors::not_yet(span, "a link in the density or the flux of a law"));
    if (read.is(Op::Load) && (!read->offset.zero() || is_gradient(read->index)))
      refuse(read->index);
    if (!read.is(Op::Stencil)) continue;
    algebra::visit(read, [&](Expr node) {
      if (node.is(Op::Load)) refuse(node->index);
    });
  }
}

std::vector<StateField> conserved_fields(const Setting& d, std::vector<StateField>& declared) {
  std::vector<StateField> fields;
  for (const dsl::Clause* clause : d.resolved.clauses("conserve")) {
    const dsl::Item* law = law_of(*clause);
    if (!law) d.fail(errors::not_yet(clause->keyword_span, "a law without `U = density: flux`"));
    if (!d.grid.present) d.fail(errors::no_lattice(law->head->span, law->head->name));
    const dsl::Symbol* symbol = d.resolved.find(law->head->name);
    StateField field;
    field.name = law->head->name;
    field.span = law->head->span;
    field.conserved = true;
    field.order = 1;
    if (symbol && symbol->type.base == dsl::Type::Base::Vector) field.rows = symbol->type.rows;
    for (int i = 0; i < field.rows; ++i) {
      field.cells.push_back(i);
      field.arrays.push_back(d.new_array());
    }
    fields.push_back(std::move(field));
  }
  // a variable that relaxes is stored as it is
  for (const dsl::Clause* clause : d.resolved.clauses("relax")) {
    const dsl::Head& head = *clause->items.front().head;
    const auto variable = std::ranges::find(declared, head.name, &StateField::name);
    if (variable == declared.end()) continue;
    if (variable->relaxed) d.fail(errors::relaxes_twice(head.span, head.name));
    if (variable->complex || variable->columns > 1)
      d.fail(errors::not_yet(head.span, "a variable that relaxes and is no number or vector"));
    variable->relaxed = true;
    StateField field = *variable;
    field.primitive = false;
    field.conserved = true;
    field.span = head.span;
    for (int& array : field.arrays) array = d.new_array();
    fields.push_back(std::move(field));
  }
  return fields;
}

std::vector<Law> read_laws(const Equations& d, const Equations& of_state) {
  Lowerer lower(of_state), of_sources(d);
  refuse_beside_laws(d);
  refuse_energies_in_laws(d);
  std::vector<Law> laws;
  d.ledger.clauses("primitive");
  for (const dsl::Clause* clause : d.ledger.clauses("conserve")) {
    const dsl::Item& item = *law_of(*clause);
    d.ledger.use(item);
    const StateField& field = *d.field(item.head->name);
    Law law;
    law.name = field.name;
    law.arrays = field.arrays;
    law.span = field.span;
    law.density = lower.value(*item.value);
    if (law.density.parts.size() != field.arrays.size()) {
      d.fail(errors::wrong_shape(item.value->span, fmt::format("`{}` has {} components", field.name,
                                                               field.arrays.size())));
    }
    const Expr zero = d.arena().integer(0);
    law.flux.assign(field.arrays.size(),
                    std::vector<Expr>(static_cast<std::size_t>(d.grid.dims), zero));
    law.source.assign(field.arrays.size(), zero);
    FluxReader reader(d, lower, of_sources, law);
    for (const dsl::Item* right : dsl::positional(*clause)) reader.read(*right->value);
    laws.push_back(std::move(law));
  }
  for (Law& law : read_relaxations(d, of_sources)) laws.push_back(std::move(law));
  for (Law& law : laws) {
    if (!arrays_beside_laws(d).empty()) {
      for (Expr& source : law.source) source = with_gradients(d, source);
      if (law.time) law.time = with_gradients(d, law.time);
    }
    for (const Component& density : law.density.parts)
      refuse_derivatives_of_fields(d, density.re, law.span);
    for (const auto& axes : law.flux)
      for (const Expr flux : axes) refuse_derivatives_of_fields(d, flux, law.span);
  }
  if (d.coordinates.given()) add_curvature(d, laws);  // of stresses too
  for (Law& law : laws) take_apart(d, law);
  check_closed(d, laws);
  return laws;
}

Laws read_conservation(const Equations& given) {
  if (!given.resolved.clause("conserve")) return {};
  Equations known = as_laws_see_it(given);
  for (auto& [array, rate] : known.rates) rate = with_named_background(known, rate);
  Equations d = known;
  name_primitive_rates(d);
  d.laws = read_laws(d, known);
  d.rates =
      known.rates;  // derivatives in time of primitive variables have a value in sources alone
  Conservation& c = d.conservation.emplace();
  for (const Law& law : d.laws) {
    c.quantities.insert(c.quantities.end(), law.arrays.begin(), law.arrays.end());
  }
  d.iterations = read_recovery(d, c);
  Lowerer lower(d);
  d.limits = read_limits(Motion(d), lower, nullptr);
  Laws laws = d;
  laws.conserved_rates = read_scheme(d, *laws.conservation);
  find_diffusion(d, *laws.conservation);
  return laws;
}

namespace {

/// The first field of a kind that `init` names, and where.
const dsl::Head* first_start(const Declared& d, bool (*wanted)(const StateField&)) {
  for (const dsl::Clause* clause : d.resolved.clauses("init")) {
    for (const dsl::Item& item : clause->items) {
      const StateField* field = item.head ? d.field(item.head->name) : nullptr;
      if (field && wanted(*field)) return &*item.head;
    }
  }
  return nullptr;
}

}  // namespace

void start_conserved(const Program& d, StartValues& start) {
  const std::vector<Law>& laws = d.laws;
  if (laws.empty()) return;
  const dsl::Head* quantity = first_start(d, [](const StateField& f) { return f.conserved; });
  // what relaxes is both
  const dsl::Head* primitive =
      first_start(d, [](const StateField& f) { return f.primitive && !f.relaxed; });
  if (quantity && primitive) {
    d.fail(errors::start_given_twice(quantity->span, quantity->name, primitive->name,
                                     primitive->span));
  }
  if (!quantity) {
    for (const Law& law : laws) {
      for (std::size_t i = 0; i < law.arrays.size(); ++i) {
        start[law.arrays[i]] = {law.density.parts[i].re, law.span};
      }
    }
    return;
  }
  // the quantities have a start: primitive variables are recovered from them
  for (const Law& law : laws) {
    if (!law.time) continue;
    for (std::size_t i = 0; i < law.arrays.size(); ++i) {
      const auto given = start.find(law.density.parts[i].re->index);
      if (given != start.end()) start[law.arrays[i]] = given->second;
    }
  }
  std::map<int, Expr> recovered;
  for (const Derived& value : d.conservation->recovered) {
    const Expr of_quantities = algebra::rewrite(value.value, [&](Expr node) {
      const auto known = node.is(Op::Load) ? recovered.find(node->index) : recovered.end();
      return known == recovered.end() ? node : known->second;
    });
    recovered.emplace(value.array, of_quantities);
    if (start.contains(value.array)) start[value.array] = {of_quantities, quantity->span};
  }
}

std::optional<Expr> fluid_name(const Program& d, const std::string& name) {
  const Conservation& c = *d.conservation;
  Arena& arena = d.arena();
  if (name == "courant" && !c.speeds.empty() && d.dt) {
    // a step takes one axis after the other, a right side takes all axes at once
    Expr sum;
    for (const Expr speed : c.speeds) {
      const Expr one = arena.make(Op::Abs, {speed}) * d.dt / d.grid.dx;
      sum = !sum ? one : c.step ? arena.make(Op::Max, {sum, one}) : sum + one;
    }
    return sum;
  }
  if (name == "diffusion" && c.diffusion.rate) return c.diffusion.rate;
  if (name == "residual" && !c.solved.empty()) {
    Expr largest;
    for (const Conservation::Solved& solved : c.solved)
      largest = largest ? arena.make(Op::Max, {largest, solved.residual}) : solved.residual;
    return largest;
  }
  if (name == "iterations" && !c.solved.empty())
    return d.iterations ? d.iterations : arena.integer(0);
  if (name == "fixes" && !d.limits.empty()) {
    std::string& fixes = d.collected.fixes;
    if (fixes.empty()) {
      fixes = "fixes";
      d.collected.scalars.push_back({fixes, arena.integer(0), arena.integer(0), "fixes"});
    }
    return arena.symbol(fixes);
  }
  return std::nullopt;
}

namespace {

/// The fastest signal in random states whose vectors are up to `length` long: that of the laws or
/// the speed the model gives to the scheme, whichever is faster. It is taken along the first axis,
/// with vectors along it. For a scheme that takes all axes at once it is the sum over the axes,
/// with vectors of any direction.
double fastest_signal(const Program& d, const std::vector<Law>& laws, const Signals& signals,
                      const TrialStates& trials, double length) {
  std::mt19937_64 random(19930503);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::normal_distribution<double> normal;
  const int axes = d.conservation->step ? 1 : d.grid.dims;
  const bool relaxing = std::ranges::any_of(laws, [](const Law& law) { return bool(law.time); });
  double fastest = 0;
  for (int state = 0; state < 200; ++state) {
    Numbers numbers;
    for (const int array : arrays_beside_laws(d)) numbers[array] = trials.reference().at(array);
    const double scale = std::pow(10.0, 6 * uniform(random) - 3);
    for (const StateField& field : d.fields) {
      if (!field.primitive) continue;
      const dsl::Symbol* symbol = d.resolved.find(field.name);
      const bool vector = symbol && symbol->type.base == dsl::Type::Base::Vector;
      double square = 0;
      for (std::size_t i = 0; i < field.arrays.size(); ++i) {
        const double sign = uniform(random) < 0.5 ? -1 : 1;
        const double size = 1 - 1e-4 * uniform(random);
        double& number = numbers[field.arrays[i]];
        // a variable that relaxes has any size: signals are those of a state where it is 0
        if (field.relaxed) continue;
        number = !vector    ? scale * std::pow(length, 2 * uniform(random))
                 : axes > 1 ? normal(random)
                            : (i == 0 ? sign * length * size : 0);
        square += number * number;
      }
      if (!vector || axes == 1) continue;
      for (const int array : field.arrays) numbers[array] *= length * 0.9999 / std::sqrt(square);
    }
    for (const StateField& field : d.fields)
      if (field.primitive && field.relaxed)
        for (const int array : field.arrays) numbers[array] = 0;
    if (!trials.admits(numbers)) continue;
    double sum = 0, told = 0, fluxes = 0;
    for (int axis = 0; axis < axes; ++axis) sum += signals.largest(numbers, axis).value_or(0);
    for (int axis = 0; relaxing && axis < axes; ++axis)
      fluxes += signals.largest(numbers, axis, false).value_or(0);
    fastest = std::max(fastest, sum);
    for (const Law& law : laws) {
      for (std::size_t i = 0; i < law.arrays.size(); ++i)
        numbers[law.arrays[i]] = evaluated(law.density.parts[i].re, numbers);
    }
    for (int axis = 0; axis < axes; ++axis)
      told += std::abs(evaluated(d.conservation->speeds[static_cast<std::size_t>(axis)], numbers));
    if (std::isfinite(told)) fastest = std::max(fastest, told);
    constexpr double kClose = 1.01;
    // a speed that bounds the fluxes is meant for such a state
    if (relaxing && std::isfinite(told) && kClose * told > fluxes && sum > kClose * told) {
      TrialState state;
      state.primitives = numbers;
      const auto [law, without] = carrier_of_signals(d, laws, numbers, axes);
      d.fail(errors::signals_beyond_speed(law->span, law->name, sum, without, told, axes,
                                          shown_state(d, state)));
    }
  }
  return fastest;
}

/// An expectation at the outputs that dt is below the limit of the scheme.
void promise_courant(const Program& d, System& system) {
  const double limit = d.conservation->courant;
  Arena& arena = d.arena();
  const Expr largest = arena.make(Op::Maximum, {*fluid_name(d, "courant")});
  Expectation x;
  x.kind = Expectation::Kind::Condition;
  x.text = fmt::format("max(courant) < {:.4g}, the limit of the scheme", limit);
  x.span = d.resolved.clause("evolve")->keyword_span;
  x.value = largest;
  x.ok = arena.make(Op::LessEqual, {largest, arena.real(limit)});
  system.expectations.push_back(std::move(x));
}

/// A `speed` of the scheme that signals of the start exceed.
void check_speed(const Program& d, const System& system, const Signals& signals) {
  const Conservation& c = *d.conservation;
  if (c.speeds.size() != static_cast<std::size_t>(d.grid.dims) || d.coordinates.given()) return;
  // what relaxes is looked at in many states, and refused
  if (std::ranges::any_of(d.laws, [](const Law& law) { return bool(law.time); })) return;
  const auto outrun = outrun_at_start(system, signals, c.speeds);
  if (!outrun) return;
  dsl::Span span;
  for (const dsl::Clause* clause : d.resolved.clauses("scheme"))
    if (!clause->has_body) span = clause->keyword_span;
  d.diagnostics.add(errors::speed_below_signals(span, outrun->signal, outrun->bound));
}

}  // namespace

void check_courant(const Program& program, System& system) {
  const Program d = as_laws_see_it(program);
  const std::vector<Law>& laws = d.laws;
  const Conservation& c = *d.conservation;
  check_relaxation(d, system);
  check_diffusion(d, system);
  Lowerer lower(d);
  const TrialStates trials(d, lower, laws);
  const Signals signals(d, per_coordinate(d, laws), d.primitive_rates);
  check_waves(d, system, signals, trials);
  if (c.courant <= 0 || c.speeds.empty() || !d.dt) return;
  const dsl::Clause* evolve = d.resolved.clause("evolve");
  check_speed(d, system, signals);
  if (d.adaptive()) return promise_courant(d, system);
  double near = 0, far = 0;
  for (const double length : {0.3, 0.999, 1.0}) {
    near = std::max(near, fastest_signal(d, laws, signals, trials, length));
  }
  for (const double length : {1.5, 30.0, 1000.0}) {
    far = std::max(far, fastest_signal(d, laws, signals, trials, length));
  }
  const double ratio = static_cast<double>((d.dt / d.grid.dx)->number.real);
  const auto refuse = [&](double speed) {
    dsl::Span span = evolve->keyword_span;
    if (const dsl::ExprPtr dt = dsl::option(*evolve, "dt")) span = dt->span;
    double told = 0;  // where the text gives the scheme numbers
    for (const Expr bound : c.speeds) {
      const auto number = algebra::constant(bound);
      const double here = number ? static_cast<double>(number->real) : speed;
      told = c.step ? std::max(told, here) : told + here;
    }
    d.fail(errors::step_beyond_signals(span, ratio, c.courant, speed, told));
  };
  constexpr double kRounding = 0.999;
  // no signal is faster than that
  if (near > 0 && far <= 1.1 * near && signals.of_state_alone() && !signals.reads_fields()) {
    near = std::max(near, far);
    if (near * ratio * kRounding > c.courant) refuse(near);
    return;
  }
  const auto start = speed_at_start(system, signals, c.step);
  if (start && *start * ratio * kRounding > c.courant) refuse(*start);
  promise_courant(d, system);
}

namespace {

/// The slope of a that follows the averages as H*a.
Expr with_hubble_rate(const Program& d, Expr source) {
  if (d.background.metric != Metric::SelfConsistent) return source;
  const Expr slope = d.arena().symbol(program::slope_of(d.background.scale));
  return algebra::expand(algebra::substitute(source, slope, d.hubble() * d.scale()));
}

}  // namespace

void show_laws(const Program& program, System& system) {
  const Program d = as_laws_see_it(program);
  const std::vector<Law>& laws = d.laws;
  constexpr const char* kAxes[] = {"x", "y", "z"};
  for (std::size_t k = 0; k < d.coordinates.factors.size(); ++k) {
    const std::string name = static_cast<int>(k) < d.grid.dims
                                 ? fmt::format("scale factor of {}", kAxes[k])
                                 : fmt::format("scale factor {}, without an axis", k + 1);
    system.physical.push_back({name, d.coordinates.factors[k], d.coordinates.span});
  }
  for (const Law& law : laws) {
    for (std::size_t i = 0; i < law.arrays.size(); ++i) {
      const std::string name =
          law.arrays.size() > 1 ? fmt::format("{}[{}]", law.name, i) : law.name;
      for (int k = 0; k < d.grid.dims; ++k) {
        const auto axis = static_cast<std::size_t>(k);
        system.physical.push_back(
            {fmt::format("flux of {} along {}", name, kAxes[k]), law.flux[i][axis], law.span});
        if (!law.through.empty() && !law.through[i][axis].is_zero())
          system.physical.push_back(
              {fmt::format("derivatives in it, at the face to the next cell along {}", kAxes[k]),
               law.through[i][axis], law.span});
        if (!law.noise.empty() && !law.noise[i].face[axis].is_zero())
          system.physical.push_back({"noise of it there", law.noise[i].face[axis], law.span});
      }
      if (!law.source[i].is_zero()) {
        system.physical.push_back({fmt::format("source of {}", name),
                                   with_hubble_rate(d, with_named_rates(d, law.source[i])),
                                   law.span});
      }
      if (!law.noise.empty() && !law.noise[i].source.is_zero())
        system.physical.push_back(
            {fmt::format("noise in the source of {}", name), law.noise[i].source, law.span});
    }
  }
}

}  // namespace vphi::physics
