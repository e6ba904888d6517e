// The scheme of a model of conservation laws: its text for every axis, the order of the axes, and
// the flux out of the box.
#include <algorithm>

#include <fmt/format.h>

#include "compiler/algebra/transform.hpp"
#include "compiler/kernel/passes.hpp"
#include "compiler/physics/fields/coordinates_errors.hpp"
#include "compiler/physics/fluids/axis_scheme.hpp"
#include "compiler/physics/fluids/conservation.hpp"
#include "compiler/physics/fluids/conservation_errors.hpp"
#include "compiler/physics/fluids/curl_laws.hpp"
#include "compiler/physics/fluids/curvature.hpp"
#include "compiler/physics/fluids/ends.hpp"
#include "compiler/physics/fluids/flux_parts.hpp"
#include "compiler/physics/fluids/relaxation.hpp"
#include "compiler/physics/fluids/scheme_head.hpp"
#include "compiler/physics/fluids/signals.hpp"
#include "compiler/physics/physics_errors.hpp"

namespace vphi::physics {

using algebra::Offset;
using algebra::Op;
using dsl::ExprKind;

namespace {

/// `split [xyz, zyx]`: the axes of successive steps. A word that names an axis twice shares the
/// step: xyzzyx runs each axis for half of it (Strang).
void read_split(const Equations& d, Conservation& c) {
  const int dims = d.grid.dims;
  const auto add = [&](const std::string& word) {
    std::vector<Conservation::Share> order;
    for (const char letter : word) {
      const auto times = std::ranges::count(word, letter);
      order.push_back({letter - 'x', 1.0 / static_cast<double>(times)});
    }
    // successive steps along one axis are one step
    for (std::size_t i = 0; i + 1 < order.size();) {
      if (order[i].axis != order[i + 1].axis) {
        ++i;
        continue;
      }
      order[i].weight += order[i + 1].weight;
      order.erase(order.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    }
    c.orders.push_back(std::move(order));
  };
  if (const dsl::Clause* clause = d.ledger.clause("split")) {
    const dsl::Expr& list = *dsl::positional(*clause)[0]->value;
    if (list.kind == ExprKind::List) {
      for (const dsl::ExprPtr& word : list.args) add(word->text);
    } else {
      add(list.text);
    }
    if (!c.step) {
      d.fail(errors::not_yet(clause->keyword_span, "`split` of a scheme that is a right side"));
    }
  } else {
    add(std::string("xyz").substr(0, static_cast<std::size_t>(dims)));
  }
}

/// The flux out of the box at a site, as an expression of the scheme's lines.
Expr lost_through_walls(Arena& arena, const std::array<std::int64_t, 4>& extent,
                        const AxisScheme& scheme, int quantity) {
  const auto axis = static_cast<std::size_t>(scheme.axis);
  const Expr face = scheme.face.at(quantity);
  Offset back;
  back.d[axis] = -1;
  const auto at = [&](std::int64_t site, Expr value) {
    const Expr here = arena.make(Op::Equal, {arena.site(scheme.axis), arena.integer(site)});
    return arena.raw(Op::Select, {here, value, arena.integer(0)});
  };
  return arena.raw(Op::Sub, {at(0, algebra::shift(face, back)), at(extent[axis] - 1, face)});
}

}  // namespace

std::map<int, Expr> read_scheme(const Equations& d, Conservation& c) {
  Lowerer lower(d);
  std::map<int, Expr> rates;
  const dsl::Clause* use = nullptr;
  for (const dsl::Clause* clause : d.resolved.clauses("scheme")) {
    if (!clause->has_body) use = clause;
  }
  if (!use) d.fail(errors::no_scheme(d.laws.front().span));
  d.ledger.use(*use);
  const dsl::Clause* text = scheme_text(d.resolved, scheme_name(*use));
  if (!text) d.fail(errors::no_scheme(use->keyword_span));
  const SchemeHead head = read_scheme_head(d, *text);
  for (const auto& [name, fallback] : head.options) {
    if (name != "half_step") continue;
    const dsl::ExprPtr given = d.ledger.option(*use, name);
    const dsl::ExprPtr value = given ? given : fallback;
    if (!value || (!is_on(*value) && !is_off(*value))) {
      d.fail(
          errors::option_value(value ? value->span : use->keyword_span, "half_step", "on or off"));
    }
    c.half_step = is_on(*value);
  }
  const bool is_step = text->body.empty() || text->body.back().definition.head.primes == 0;
  const bool with_rates = holds_primitive_rates(d, d.laws);
  for (const Law& law : d.laws)
    if (is_step && (law.time || holds_primitive_rates(d, {law})))
      d.fail(errors::relaxes_in_step(use->keyword_span, law.span, scheme_name(*use)));
  for (const Law& law : d.laws)
    if (is_step && !law.through.empty())
      d.fail(errors::derivative_in_step(use->keyword_span, law.span, scheme_name(*use)));
  for (const StateField& field : d.fields)
    if (is_step && field.beside_laws())
      d.fail(
          errors::field_beside_step(use->keyword_span, field.span, field.name, scheme_name(*use)));
  if (is_step && d.background.metric == Metric::SelfConsistent)
    d.fail(errors::not_yet(use->keyword_span,
                           "a scheme that is a step beside a metric that follows the averages"));
  if (is_step && d.coordinates.curved)
    d.fail(errors::scale_in_step(use->keyword_span, d.coordinates.span, scheme_name(*use)));
  // a step is taken in coordinates, a right side in lengths and then with the areas of faces
  const std::vector<Law> per_axis = per_coordinate(d, d.laws);
  const std::vector<Law>& own = is_step ? per_axis : d.laws;
  const Signals signals(d, per_axis);
  for (int axis = 0; axis < d.grid.dims; ++axis) {
    AxisText along = read_axis_scheme(d, lower, own, head, *text, *use, axis);
    if (!along.step && d.coordinates.given()) take_areas(d, along.scheme, *use, scheme_name(*use));
    c.sweeps.push_back(std::move(along.scheme));
    c.step = along.step;
    // a scheme with one `velocity` argument, or without any, does not know the speed of sound
    const bool told = along.speed && head.velocity.empty();
    const Expr speed = told ? along.speed : signals.at_site(axis, along.speed);
    if (speed) c.speeds.push_back(told && !is_step ? per_coordinate(d, speed, axis) : speed);
  }
  keep_divergence(d, c);
  const GivenEnds ends(d, lower);
  for (AxisScheme& scheme : c.sweeps) ends.put_into(scheme, c.step && c.half_step);
  const std::vector<Law> laws = ends.in_sources(own);
  for (const auto& [name, fallback] : head.options) {
    if (name != "courant") continue;
    const dsl::ExprPtr given = d.ledger.option(*use, name);
    c.courant = static_cast<double>(lower.fixed_number(given ? *given : *fallback, name));
  }
  const dsl::Clause* evolve = d.resolved.clause("evolve");
  const bool by_scheme = evolve && !dsl::positional(*evolve).empty() &&
                         dsl::positional(*evolve)[0]->value->text == "scheme";
  if (by_scheme != c.step && evolve) {
    d.fail(errors::scheme_form(evolve->keyword_span, scheme_name(*use), c.step));
  }
  read_split(d, c);

  Arena& arena = d.arena();
  for (const Law& law : laws) {
    for (std::size_t i = 0; i < law.arrays.size(); ++i) {
      const int array = law.arrays[i];
      Expr rate = with_rates ? arena.integer(0) : kernel::with_fixed_order(law.source[i]);
      if (c.step) {
        if (!rate.is_zero()) c.source[array] = rate;
        rates[array] = arena.integer(0);
        continue;
      }
      for (const AxisScheme& scheme : c.sweeps) {
        const Expr part = scheme.result.at(array);
        if (part.is_zero()) continue;
        rate = rate.is_zero() ? part : arena.raw(Op::Add, {rate, part});
      }
      rates[array] = rate;
    }
  }
  if (with_rates) rates = with_known_rates(d, laws, rates);
  for (const Law& law : laws) {
    if (law.noise.empty()) continue;
    if (c.step)
      d.fail(errors::not_yet(
          law.span, "noise in laws whose scheme is a step, not a right side such as `kt`"));
    if (with_rates)
      d.fail(errors::not_yet(
          law.span,
          "noise in laws beside sources that hold derivatives in time of primitive variables"));
    for (std::size_t i = 0; i < law.arrays.size(); ++i)
      if (const Expr noise = noise_in_rate(d, law, i))
        rates[law.arrays[i]] = arena.raw(Op::Add, {rates.at(law.arrays[i]), noise});
  }
  // a wall that mirrors (`neumann`) reflects: vectors change sign across it
  for (int axis = 0; axis < d.grid.dims; ++axis) {
    if (d.grid.boundary[axis] != Boundary::Neumann) continue;
    for (const StateField& field : d.fields) {
      const dsl::Symbol* symbol = d.resolved.find(field.name);
      const bool vector = symbol && symbol->type.base == dsl::Type::Base::Vector;
      if (!field.beside_laws() && vector && field.rows == d.grid.dims)
        c.odd[field.arrays[axis]] = axis;
    }
  }
  for (int axis = 0; axis < d.grid.dims; ++axis) {
    const Boundary b = d.grid.boundary[axis];
    if (b == Boundary::Periodic || b == Boundary::Outflow || b == Boundary::Neumann) continue;
    d.fail(errors::not_yet(d.grid.span, "this boundary for conservation laws"));
  }
  bool open = false;
  for (int axis = 0; axis < d.grid.dims; ++axis) {
    open = open || d.grid.boundary[axis] != Boundary::Periodic;
  }
  const bool faces =
      std::ranges::all_of(c.sweeps, [](const AxisScheme& s) { return !s.face.empty(); });
  if (!open || !faces) return rates;
  for (const int array : c.quantities) {
    c.outflow[array] = fmt::format("outflow_{}", array);
    Expr lost = arena.integer(0);
    for (const AxisScheme& scheme : c.sweeps) {
      if (d.grid.boundary[scheme.axis] == Boundary::Periodic) continue;
      lost =
          lost + arena.make(Op::Total, {lost_through_walls(arena, d.grid.extent, scheme, array)});
    }
    d.collected.scalars.push_back({c.outflow[array], c.step ? arena.integer(0) : lost,
                                   arena.integer(0), fmt::format("what left of array {}", array)});
  }
  return rates;
}

Expr lost_through_walls(const System& system, const AxisScheme& scheme, int quantity) {
  return lost_through_walls(*system.arena, system.lattice.extent, scheme, quantity);
}

}  // namespace vphi::physics
