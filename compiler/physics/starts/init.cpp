// Initial values: expressions, random numbers, vacuum fluctuations (docs/formulas.md 1.5).
#include <algorithm>
#include <functional>
#include <set>
#include <unordered_map>

#include <fmt/format.h>

#include "compiler/algebra/ops.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/physics/chains/link_field.hpp"
#include "compiler/physics/chains/link_phase.hpp"
#include "compiler/physics/chains/link_values.hpp"
#include "compiler/physics/chains/sampling_errors.hpp"
#include "compiler/physics/chains/site_values.hpp"
#include "compiler/physics/clauses/sweep_axes.hpp"
#include "compiler/physics/fields/coordinates.hpp"
#include "compiler/physics/fields/link_motion.hpp"
#include "compiler/physics/lower/calculus.hpp"
#include "compiler/physics/lower/displacement.hpp"
#include "compiler/physics/lower/lower.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "compiler/physics/stages/start.hpp"
#include "compiler/physics/starts/init_errors.hpp"
#include "compiler/physics/starts/momentum_start.hpp"
#include "compiler/physics/starts/random_arrays.hpp"
#include "compiler/physics/starts/start_files.hpp"
#include "compiler/physics/starts/vacuum_start.hpp"

namespace vphi::physics {

using algebra::Op;

namespace {

/// `gauss = 0`, a condition on what starts (gauss_start.hpp).
bool is_law(const Equations& d, const dsl::Head& head) {
  return head.name == "gauss" && head.primes == 0 && head.form == dsl::Head::Form::Plain &&
         !d.field("gauss") && std::ranges::any_of(d.fields, [](const StateField& f) {
           return f.links && f.hamiltonian;
         });
}

std::vector<InitItem> init_items(const Equations& d) {
  std::vector<InitItem> out;
  for (const dsl::Clause* clause : d.ledger.clauses("init")) {
    for (const dsl::Item& item : clause->items) {
      if (!item.head) d.fail(errors::init_not_state(item.span, written(d, item.span)));
      const dsl::Head& head = *item.head;
      d.ledger.use(item);
      if (head.name == "t" && !d.field("t")) continue;
      if (is_law(d, head)) continue;
      const StateField* field = d.field(head.name);
      const bool of_momentum =
          field && head.primes == 1 && !field->link && !field->rates_in_lagrangian.empty();
      if (of_momentum) field = d.conjugate(*field);
      const bool velocity = head.primes == 1 && !of_momentum;
      // U[i] = ...: a value for each link, i its axis; x[k] = ...: one for each body
      const bool indexed = head.form == dsl::Head::Form::Indexed && head.args.size() == 1 &&
                           head.args[0]->kind == dsl::ExprKind::Name;
      const bool by_axis = field && field->link && indexed;
      const bool of_body = field && field->particle && indexed;
      // psi[s, c] = ...: a value for each component
      const bool by_component = field && field->spinor && head.form == dsl::Head::Form::Indexed &&
                                head.args.size() == 2 &&
                                std::ranges::all_of(head.args, [](const dsl::ExprPtr& arg) {
                                  return arg->kind == dsl::ExprKind::Name;
                                });
      if (!field || head.primes > 1 || (velocity && field->order != 2) ||
          (head.form != dsl::Head::Form::Plain && !by_axis && !of_body && !by_component)) {
        d.fail(errors::init_not_state(head.span, written(d, head.span)));
      }
      for (const InitItem& other : out) {
        if (other.field == field && other.velocity == velocity) {
          d.fail(errors::init_twice(head.span, written(d, head.span), other.item->head->span));
        }
      }
      Scope scope;
      if (of_body) {
        IndexValue own;
        own.body = IndexValue::Body::Own;
        scope.indices.emplace(head.args[0]->text, own);
      }
      out.push_back({&item, field, velocity, by_component, std::move(scope), of_momentum});
    }
  }
  return out;
}

/// The stored numbers of one link of SU(n) that starts as this matrix or as the number 1.
std::vector<Expr> stored_link(const Equations& d, const InitItem& init, const Value& v) {
  const gauge::LinkType& links = *init.field->links;
  const int n = links.group.n;
  if (v.scalar() && v.parts[0].re.is_one()) {
    return gauge::store(links, gauge::identity(d.arena(), n));
  }
  if (v.rows != n || v.columns != n) {
    d.fail(errors::wrong_shape(
        init.item->value->span,
        fmt::format("links of SU({0}) start `cold`, `hot`, as 1 or a {0} x {0} matrix", n)));
  }
  return gauge::store(links, checked_link(d, *init.field, v, init.item->value->span));
}

/// The coordinates of a matrix of the algebra; of 0 they are 0.
std::vector<Expr> coordinates_of(const Equations& d, const InitItem& init, const Value& v) {
  const gauge::Group& group = *init.field->algebra;
  if (v.scalar() && v.parts[0].re.is_zero())
    return std::vector<Expr>(static_cast<std::size_t>(group.generators()), d.arena().integer(0));
  return algebra_coordinates(d, group, v, init.field->name, init.item->value->span);
}

/// `hot` and `cold` draw the links of all directions at once, with an index or without.
bool draws_all_links(const dsl::Expr& e) {
  return e.kind == dsl::ExprKind::Name && (e.text == "hot" || e.text == "cold");
}

/// The value as written; of `U[i] = ...` one component, or matrix, for each axis i.
Value value_of(const Equations& d, Lowerer& lower, const InitItem& init, const Reading& reading) {
  const dsl::Head& head = *init.item->head;
  if (init.by_component) {
    Value v{init.field->rows, init.field->columns, {}};
    for (int s = 0; s < v.rows; ++s) {
      for (int c = 0; c < v.columns; ++c) {
        Scope scope = Scope::in(reading);
        scope.indices.emplace(head.args[0]->text, IndexValue{s});
        scope.indices.emplace(head.args[1]->text, IndexValue{c});
        const Value part = lower.value(*init.item->value, scope);
        v.parts.push_back(part.parts[0]);
      }
    }
    return v;
  }
  if (!init.field->link || head.form != dsl::Head::Form::Indexed ||
      draws_all_links(*init.item->value)) {
    Scope scope = init.scope;
    scope.given = &reading;
    return lower.value(*init.item->value, scope);
  }
  std::vector<Component> parts;
  for (int axis = 0; axis < init.field->rows; ++axis) {
    Scope scope = Scope::in(reading);
    scope.indices.emplace(head.args[0]->text, IndexValue{axis, 1, true});
    const Value part = lower.value(*init.item->value, scope);
    if (init.field->matrices()) {
      for (const Expr number : stored_link(d, init, part)) parts.push_back({number, {}});
    } else if (init.field->algebra) {
      for (const Expr number : coordinates_of(d, init, part)) parts.push_back({number, {}});
    } else {
      parts.insert(parts.end(), part.parts.begin(), part.parts.end());
    }
  }
  if (init.field->matrices() || init.field->algebra)
    return {init.field->rows, init.field->columns, std::move(parts)};
  return Value::vector(std::move(parts));
}

/// Links of SU(n): what is stored of each, one matrix for all of them, or 1.
std::vector<Expr> as_links(const Equations& d, const InitItem& init, const Value& v) {
  const StateField& field = *init.field;
  std::vector<Expr> result;
  if (v.rows == field.rows && v.columns == field.columns) {
    for (const Component& part : v.parts) result.push_back(part.re);
    return result;
  }
  const std::vector<Expr> stored = stored_link(d, init, v);
  for (int axis = 0; axis < field.rows; ++axis)
    result.insert(result.end(), stored.begin(), stored.end());
  return result;
}

/// The components of a value as the field's arrays; a number fits every component.
std::vector<Expr> as_field(const Equations& d, const InitItem& init, const Value& v) {
  const StateField& field = *init.field;
  const Expr zero = d.arena().integer(0);
  std::vector<Expr> result(field.arrays.size());
  if (field.matrices()) return as_links(d, init, v);
  if (field.algebra && !(v.rows == field.rows && v.columns == field.columns)) {
    const std::vector<Expr> own = coordinates_of(d, init, v);
    for (std::size_t i = 0; i < result.size(); ++i) result[i] = own[i % own.size()];
    return result;
  }
  const bool one_for_all = v.scalar() && field.cells.size() > 1;
  if (!one_for_all && v.parts.size() != field.cells.size()) {
    d.fail(
        errors::wrong_shape(init.item->value->span,
                            fmt::format("`{}` has {} components", field.name, field.cells.size())));
  }
  const dsl::Expr& given = *init.item->value;
  const bool any = draws_all_links(given);
  if (field.roots > 0 && !any && !(v.scalar() && v.parts[0].re.is_one() && !v.complex()))
    d.fail(errors::start_not_a_root(given.span, field.name, field.roots));
  if (v.complex() && !field.complex && !field.angle) {
    d.fail(errors::not_real(init.item->value->span,
                            fmt::format("the initial value of `{}`", field.name)));
  }
  for (std::size_t k = 0; k < field.cells.size(); ++k) {
    const Component& part = v.parts[one_for_all ? 0 : k];
    const int cell = field.cells[k];
    if (field.angle) {
      // the angle of exp(1i*angle): of 1 it is 0
      check_phase(d, field, part, init.item->value->span);
      result[cell] = d.arena().make(Op::Atan2, {part.im ? part.im : zero, part.re});
    } else if (field.complex) {
      result[2 * cell] = part.re;
      result[2 * cell + 1] = part.im ? part.im : zero;
    } else {
      result[cell] = part.re;
    }
  }
  return result;
}

/// The components of a value as the arrays that it starts.
std::vector<Expr> as_arrays(const Equations& d, const InitItem& init, const Value& v) {
  const std::vector<Expr> own = as_field(d, init, v);
  if (!init.of_momentum) return own;
  check_vacuum_of_velocity(d, *init.field, init.item->value);
  return momentum_of_velocity(d, *init.field, own, init.item->value->span);
}

/// Mean of a distribution, for homogeneous values.
Value mean_of(const Equations& d, Lowerer& lower, const dsl::Expr& e, const InitItem& init,
              const Reading& reading) {
  Arena& arena = d.arena();
  if (is_file(e)) {  // another one at each site
    return Value::of(init.field->links ? arena.integer(1) : arena.site(0));
  }
  if (e.text == "vacuum" || e.text == "spectrum") {
    const auto size = init.field->rows * init.field->columns;
    return {
        init.field->rows, init.field->columns,
        std::vector<Component>(static_cast<std::size_t>(size), Component{arena.integer(0), {}})};
  }
  if (e.text == "hot" && !init.field->links) return Value::of(arena.site(0));
  if (e.text == "hot" || e.text == "cold") return Value::of(arena.integer(1));
  const auto arg = [&](std::size_t i) {
    if (i >= e.args.size()) return Expr{};
    return lower.real(*e.args[i], "a parameter of the distribution", Scope::in(reading));
  };
  if (e.text == "normal") return Value::of(arg(0) ? arg(0) : arena.integer(0));
  if (e.text == "waterbag" || e.text == "ball" || e.text == "density")
    return Value::of(arena.integer(0));
  if (e.text == "cauchy") return Value::of(arg(0));
  if (e.text == "uniform") {
    return Value::of(arg(0) ? (arg(0) + arg(1)) / arena.integer(2) : arena.rational(1, 2));
  }
  d.fail(errors::not_yet(e.span, fmt::format("`{}` on a lattice", e.text)));
}

}  // namespace

double read_start_time(const Setting& d) {
  double start_time = 0;
  for (const dsl::Clause* clause : d.resolved.clauses("init")) {
    for (const dsl::Item& item : clause->items) {
      if (item.head && item.head->name == "t" && item.head->primes == 0) {
        start_time = static_cast<double>(Lowerer(d).fixed_number(*item.value, "the start time"));
      }
    }
  }
  return start_time;
}

Expr at_homogeneous(const Space& d, Expr e, const std::map<int, Expr>& values, bool& known) {
  Arena& arena = d.arena();
  known = true;
  return algebra::rewrite(e, [&](Expr node) {
    if (node.is(Op::Load)) {
      if (is_gradient(node->index)) return arena.integer(0);
      const auto it = values.find(node->index);
      if (it != values.end() && it->second) return it->second;
      known = false;
    } else if (node.is(Op::Symbol)) {
      if (d.expanding() && node == d.scale()) {
        if (d.background.metric == Metric::SelfConsistent) return arena.integer(1);
        return algebra::substitute(d.background.prescribed, d.time(), arena.real(d.start_time));
      }
      if (node == d.time()) return arena.real(d.start_time);
      if (d.background.metric == Metric::Prescribed && node == d.hubble()) {
        const Expr a = d.background.prescribed;
        return algebra::substitute(algebra::derivative(a, d.time()) / a, d.time(),
                                   arena.real(d.start_time));
      }
      const auto fluid = d.background.fluids.find(node.get());
      if (fluid != d.background.fluids.end()) return fluid->second;
    } else if (node.is(Op::Site)) {
      known = false;
    } else if (algebra::reduces_sites(node.op()) && !algebra::per_site(node.arg(0))) {
      return node.is(Op::Total) ? arena.integer(d.grid.sites()) * node.arg(0) : node.arg(0);
    }
    return node;
  });
}

namespace {

/// H0 of homogeneous values some of which need it: the constraint is a quadratic equation for it.
std::optional<Expr> homogeneous_hubble(const Equations& d, Lowerer& lower,
                                       const std::map<int, Expr>& raw,
                                       const std::map<int, Expr>& values) {
  if (d.background.metric != Metric::SelfConsistent) return std::nullopt;
  std::map<int, Expr> open = values;
  bool any = false, known = false;
  for (const auto& [array, e] : raw) {
    if (!algebra::depends_on(e, d.hubble())) continue;
    open[array] = at_homogeneous(d, e, values, known);
    any = true;
    if (!known) return std::nullopt;
  }
  if (!any) return std::nullopt;
  const Expr density = at_homogeneous(d, lower.energy_density(), open, known);
  if (!known) return std::nullopt;
  const auto solved = solve_constraint(d, density, [](Expr e) { return e; });
  const auto range = solved ? range_of(d, *solved) : std::nullopt;
  if (!range || !(range->low > 0)) return std::nullopt;
  return *solved;
}

}  // namespace

std::map<int, Expr> homogeneous_values(const Equations& d, Lowerer lower) {
  std::map<int, Expr> values;
  const Expr zero = d.arena().integer(0);
  for (const StateField& field : d.fields) {
    for (const int array : field.arrays) values[array] = zero;
    for (const int array : field.velocities) values[array] = zero;
  }
  std::map<int, Expr> raw;
  for (const InitItem& init : init_items(d)) {
    Reading reading;
    reading.random = [&](const dsl::Expr& e, const Reading& here) {
      const Value mean = mean_of(d, lower, e, init, here);
      const auto size = static_cast<std::size_t>(init.field->rows * init.field->columns);
      // of these draws alone one is for all components
      if (e.text != "density" || !mean.scalar() || size == 1) return mean;
      return Value{init.field->rows, init.field->columns, std::vector(size, mean.parts[0])};
    };
    const auto parts = as_arrays(d, init, value_of(d, lower, init, reading));
    const auto& arrays = init.velocity ? init.field->velocities : init.field->arrays;
    for (std::size_t i = 0; i < arrays.size(); ++i) raw[arrays[i]] = parts[i];
  }
  for (const Law& law : d.expanding() ? d.laws : std::vector<Law>{})
    for (std::size_t i = 0; i < law.arrays.size(); ++i)
      raw.try_emplace(law.arrays[i], law.density.parts[i].re);
  // values that name other fields are final after as many rounds as there are fields
  const auto settle = [&](const std::map<int, Expr>& given) {
    for (std::size_t pass = 0; pass <= given.size(); ++pass) {
      for (const auto& [array, e] : given) {
        bool known = false;
        const Expr v = at_homogeneous(d, e, values, known);
        values[array] = known && known_per_instance(d, v) ? v : Expr{};
      }
    }
  };
  settle(raw);
  if (const auto rate = homogeneous_hubble(d, lower, raw, values)) {
    for (auto& [array, e] : raw) e = algebra::substitute(e, d.hubble(), *rate);
    settle(raw);
  }
  return values;
}

namespace {

/// Whether this is one of the values wherever it is evaluated.
bool among(Expr e, const std::vector<std::int64_t>& values) {
  if (e.is(Op::Select)) return among(e.arg(1), values) && among(e.arg(2), values);
  if (!e.is_number()) return false;
  return std::ranges::any_of(
      values, [&](std::int64_t v) { return e->number.real == static_cast<long double>(v); });
}

/// Fields with `values` start among them; vectors with a `norm` are brought to it.
void constrain(const Program& d, StartValues& start) {
  Arena& arena = d.arena();
  for (const StateField& field : d.fields) {
    if (!field.values.empty()) {
      const auto& given = start.at(field.arrays[0]);
      if (!among(given.value, field.values))
        d.fail(errors::start_not_a_value(given.span.empty() ? field.span : given.span, field.name,
                                         field.values));
    }
    if (!field.length) continue;
    Expr square = arena.integer(0);
    for (const int array : field.arrays) square = square + algebra::pow(start.at(array).value, 2);
    const auto& given = start.at(field.arrays[0]);
    if (square.is_zero())
      d.fail(errors::start_without_length(given.span.empty() ? field.span : given.span, field.name,
                                          field.rows));
    const Expr scale = field.length * algebra::pow(square, arena.rational(-1, 2));
    for (const int array : field.arrays) start.at(array).value = start.at(array).value * scale;
  }
}

/// Electric fields of links that stay are 0: they are outside of the box, or in a plane that is
/// held.
void hold_electric_fields(const Equations& d, StartValues& start) {
  for (const StateField& links : d.fields) {
    const StateField* momentum = links.links ? d.conjugate(links) : nullptr;
    if (!momentum || !links.walls.any_open()) continue;
    const std::size_t parts = momentum->arrays.size() / static_cast<std::size_t>(d.grid.dims);
    d.remark(fmt::format("{}: 0 for links that are not in the box, and for those that stay",
                         momentum->name));
    for (std::size_t i = 0; i < momentum->arrays.size(); ++i) {
      Expr& value = start.at(momentum->arrays[i]).value;
      value = where_it_moves(d, links, static_cast<int>(i / parts), value, d.arena().integer(0));
    }
  }
}

/// Draws the velocity of a vacuum fluctuation (the canonical momentum under H) together with the
/// field where `init` does not give it.
void draw_rates(const Equations& d, const std::vector<InitItem>& items, VacuumDraws& vacuum,
                StartValues& start) {
  for (const InitItem& init : items) {
    if (init.velocity || d.is_momentum(*init.field)) continue;
    const StateField* partner = d.conjugate(*init.field);
    const bool written = std::ranges::any_of(items, [&](const InitItem& other) {
      return other.field == partner || (other.field == init.field && other.velocity);
    });
    const auto& rates = partner ? partner->arrays : init.field->velocities;
    for (std::size_t i = 0; !written && i < rates.size(); ++i) {
      if (const Expr rate = vacuum.rate_of(start.at(init.field->arrays[i]).value))
        start[rates[i]] = {rate, init.item->span, partner == nullptr};
    }
  }
}

}  // namespace

StartValues read_initial(const Program& d, ProgramUnits& units) {
  Lowerer lower(d);
  Arena& arena = d.arena();
  RandomArrays random(d, lower, units);
  StartValues start;
  for (const StateField& field : d.fields) {
    for (const int array : field.arrays) start[array].value = arena.integer(0);
    for (const int array : field.velocities) start[array].value = arena.integer(0);
    if (!field.matrices()) continue;
    const Value cold = random.links(false, field);
    for (std::size_t i = 0; i < field.arrays.size(); ++i) {
      start[field.arrays[i]].value = cold.parts[i].re;
    }
  }
  momenta_at_rest(d, start);
  const std::vector<InitItem> items = init_items(d);
  for (const InitItem& init : items) {
    const Reading reading = random.reading(init);
    const Value v = value_of(d, lower, init, reading);
    const bool drawn = init.item->relation == dsl::Item::Relation::Drawn;
    if (init.field->complex && drawn && !v.complex())
      d.diagnostics.add(errors::only_real_part(init.item->value->span, init.field->name));
    const auto parts = as_arrays(d, init, v);
    const auto& arrays = init.velocity ? init.field->velocities : init.field->arrays;
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      start[arrays[i]] = {parts[i], init.item->span, init.velocity};
    }
  }
  draw_rates(d, items, random.vacuum(), start);
  for (const StateField& field : d.fields) {
    if (!field.drawn) continue;
    InitItem init{nullptr, &field, false, false, {}};
    const Reading reading = random.reading(init);
    Scope scope = Scope::in(reading);
    if (field.particle) {
      IndexValue own;
      own.body = IndexValue::Body::Own;
      scope.indices.emplace(field.drawn->head.args[0]->text, own);
    }
    const Expr value = lower.real(*field.drawn->value, "a drawn number", scope);
    start[field.arrays[0]] = {value, field.span, false};
  }
  constrain(d, start);
  hold_electric_fields(d, start);
  if (d.background.metric != Metric::SelfConsistent) return start;
  // what needs H, by itself or through another value
  for (std::size_t pass = 0; pass < start.size(); ++pass) {
    for (auto& [array, s] : start) {
      s.needs_hubble = s.needs_hubble || algebra::contains(s.value, [&](Expr node) {
                         if (node == d.hubble()) return true;
                         const auto other =
                             node.is(Op::Load) ? start.find(node->index) : start.end();
                         return other != start.end() && other->second.needs_hubble;
                       });
      const StateField* field = d.field_of(array);
      const bool moves = s.velocity || (field && d.is_momentum(*field));
      if (s.needs_hubble && !moves) {
        d.fail(errors::not_yet(s.span, "a field whose initial value needs the Hubble rate"));
      }
    }
  }
  return start;
}

}  // namespace vphi::physics
