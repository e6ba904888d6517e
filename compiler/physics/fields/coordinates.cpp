#include "compiler/physics/fields/coordinates.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "compiler/algebra/transform.hpp"
#include "compiler/physics/fields/coordinates_errors.hpp"
#include "compiler/physics/lower/lower.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "program/scalar_names.hpp"

namespace vphi::physics {

using algebra::Op;

namespace {

bool along(Expr e, int axis) {
  return algebra::contains(e, [&](Expr node) { return node.is(Op::Site) && node->index == axis; });
}

/// e half a step further along an axis, or half a step back.
Expr beside(Expr e, int axis, int sign) {
  if (!along(e, axis)) return e;
  Arena& arena = *e->arena;
  return algebra::substitute(e, arena.site(axis), arena.site(axis) + arena.rational(sign, 2));
}

Expr mean_along(Expr e, int axis) {
  if (!along(e, axis)) return e;
  Arena& arena = *e->arena;
  return (beside(e, axis, -1) + arena.integer(4) * e + beside(e, axis, 1)) / arena.integer(6);
}

Expr mean_over(const Space& d, Expr e, int without = -1) {
  for (int axis = 0; axis < d.grid.dims; ++axis)
    if (axis != without) e = mean_along(e, axis);
  return e;
}

/// The product of all factors but one or two of them.
Expr product_without(const Space& d, int one, int other = -1) {
  Expr product = d.arena().integer(1);
  const auto& factors = d.coordinates.factors;
  for (int k = 0; k < static_cast<int>(factors.size()); ++k)
    if (k != one && k != other) product = product * factors[static_cast<std::size_t>(k)];
  return product;
}

/// A scale factor at the start, at a site that need not be whole; nothing where it is not known.
std::optional<double> at_start(const Space& d, Expr factor, const std::array<double, 4>& site) {
  const Expr time = d.time();
  try {
    return algebra::evaluate(factor, {[&](const algebra::Node& leaf) -> double {
                               if (leaf.op == Op::Site)
                                 return site[static_cast<std::size_t>(leaf.index)];
                               if (&leaf == time.get()) return d.start_time;
                               throw std::invalid_argument("open");
                             }});
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
}

/// A scale factor is positive in all cells, and not negative at their faces.
void check_positive(const Space& d, Expr factor, dsl::Span span) {
  if (!factor->per_site) {
    const auto value = at_start(d, factor, {});
    if (value && !(*value > 0)) d.fail(errors::scale_zero_at_start(span, *value, d.start_time));
  }
  constexpr std::int64_t kMost = 4096;
  constexpr double kRounding = 1e-9;
  for (int axis = 0; axis < d.grid.dims; ++axis) {
    if (!along(factor, axis)) continue;
    const auto k = static_cast<std::size_t>(axis);
    std::array<double, 4> site{};
    for (std::size_t other = 0; other < 4; ++other)
      site[other] = static_cast<double>(d.grid.extent[other] - 1) / 2;
    const double largest = std::fabs(at_start(d, factor, site).value_or(0));
    const std::int64_t n = d.grid.extent[k], stride = std::max<std::int64_t>(1, n / kMost);
    for (std::int64_t i = -1; i < 2 * n; i += i < 2 ? 1 : 2 * stride) {
      site[k] = static_cast<double>(i) / 2;  // faces and cells by turns
      const auto value = at_start(d, factor, site);
      if (!value) return;
      const bool face = i % 2 != 0;
      if (face ? *value >= -kRounding * largest : *value > 0) continue;
      const double dx = static_cast<double>(d.grid.dx->number.real);
      const double position = (site[k] - static_cast<double>(n - 1) / 2) * dx;
      d.fail(errors::scale_not_positive(span, *value, axis, position));
    }
  }
}

}  // namespace

Coordinates read_coordinates(const Space& d) {
  Coordinates c;
  const dsl::Clause* clause = d.resolved.clause("metric");
  if (!clause || clause->items.empty() || !clause->items.front().value) return c;
  const dsl::Expr& form = *clause->items.front().value;
  if (form.kind != dsl::ExprKind::Call || form.text != "scale") return c;
  c.span = form.span;
  if (!d.grid.present) d.fail(errors::not_yet(form.span, "`metric scale` without a lattice"));
  const int dims = d.grid.dims;
  if (static_cast<int>(form.args.size()) < dims)
    d.fail(errors::scale_for_each_axis(form.span, form.args.size(), dims));
  Lowerer lower(d);
  for (const dsl::ExprPtr& arg : form.args) {
    const Expr h = lower.real(*arg, "a scale factor");
    const bool other = algebra::contains(h, [](Expr node) {
      return node.is(Op::Load) || node.is(Op::Stencil) || node.is(Op::Normal) ||
             node.is(Op::Uniform) || node.is(Op::Noise) ||
             (node->op >= Op::Mean && node->op <= Op::Maximum);
    });
    if (other) d.fail(errors::scale_of_state(arg->span));
    c.moving = c.moving || algebra::depends_on(h, d.time());
    for (int axis = 0; axis < dims; ++axis) {
      if (!along(h, axis)) continue;
      c.curved = true;
      const Boundary wall = d.grid.boundary[static_cast<std::size_t>(axis)];
      if (wall == Boundary::Periodic) d.fail(errors::scale_across_the_box(arg->span, axis));
    }
    check_positive(d, h, arg->span);
    c.factors.push_back(h);
  }
  return c;
}

Expr cell_volume(const Space& d) { return mean_over(d, product_without(d, -1)); }

Expr face_area(const Space& d, int axis) {
  return mean_over(d, beside(product_without(d, axis), axis, 1), axis);
}

Expr face_over_length(const Space& d, int axis) {
  return face_area(d, axis) /
         beside(d.coordinates.factors[static_cast<std::size_t>(axis)], axis, 1);
}

Expr widening(const Space& d, int factor, int axis) {
  const Expr h = d.coordinates.factors[static_cast<std::size_t>(factor)];
  if (factor == axis || !along(h, axis)) return d.arena().integer(0);
  const Expr others = product_without(d, factor, axis);
  const Expr both = (beside(others, axis, 1) + beside(others, axis, -1)) / d.arena().integer(2);
  const Expr change = beside(h, axis, 1) - beside(h, axis, -1), expanded = algebra::expand(change);
  return mean_over(d, (expanded.is_number() ? expanded : change) * both, axis);
}

Expr stretching(const Space& d, int factor) {
  if (d.expanding()) return named_hubble(d);
  const Expr h = d.coordinates.factors[static_cast<std::size_t>(factor)];
  return algebra::derivative(h, d.time()) / h;
}

Coordinates expanding_box(const Space& d) {
  constexpr std::size_t kAxes = 3;
  Coordinates box;
  const bool follows = d.background.metric == Metric::SelfConsistent;
  box.factors.assign(kAxes, follows ? d.scale() : d.background.prescribed);
  box.moving = true;
  box.span = d.background.span;
  return box;
}

bool curvilinear(const Space& d) { return d.coordinates.given() && !d.expanding(); }

Expr mean_over_volume(const Space& d, Expr density) {
  Arena& arena = d.arena();
  if (!curvilinear(d) || !d.coordinates.curved) return arena.make(Op::Mean, {density});
  const Expr volume = cell_volume(d);
  return arena.make(Op::Total, {density * volume}) / arena.make(Op::Total, {volume});
}

void refuse_in_coordinates(const Equations& d) {
  if (!curvilinear(d)) return;
  const auto refuse = [&](dsl::Span span, const char* what) {
    d.fail(errors::not_yet(span, std::string(what) + " beside `metric scale`"));
  };
  if (d.lagrangian || std::ranges::any_of(d.fields, &StateField::hamiltonian))
    refuse(d.coordinates.span, "a Lagrangian or `H`");
  if (d.motor != Motor::Evolution) refuse(d.coordinates.span, "an action or a flow of links");
  if (const dsl::Clause* clause = d.resolved.clause("rescale"))
    refuse(clause->keyword_span, "`rescale`");
  for (const StateField& field : d.fields) {
    if (field.link) refuse(field.span, "links");
    if (field.spinor) refuse(field.span, "spinors");
  }
  for (const auto& [array, rate] : d.rates)
    if (!d.conservation && algebra::contains(rate, [](Expr node) { return node.is(Op::Noise); }))
      refuse(d.coordinates.span, "noise of fields");
  for (const auto& [fact, value] : d.potentials) {
    for (const Expr read : algebra::reads(value))
      if (!read.is(Op::Load) || !read->offset.zero() || is_gradient(read->index))
        refuse(fact->span, "a potential that reads neighbours");
  }
}

Expr named_scale(const Space& d) {
  return d.coordinates.given() && d.expanding() ? d.coordinates.factors.front() : d.scale();
}

Expr named_hubble(const Space& d) {
  if (!d.coordinates.given() || !d.expanding()) return d.hubble();
  const Expr a = d.coordinates.factors.front();
  const bool follows = d.background.metric == Metric::SelfConsistent;
  return (follows ? d.arena().symbol(program::slope_of(d.background.scale))
                  : algebra::derivative(a, d.time())) /
         a;
}

Expr with_named_background(const Space& d, Expr e) {
  if (!d.expanding()) return e;
  return algebra::substitute(
      e, {{d.scale().get(), named_scale(d)}, {d.hubble().get(), named_hubble(d)}});
}

}  // namespace vphi::physics
