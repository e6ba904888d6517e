#include "compiler/physics/lower/angles.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <random>

#include <fmt/format.h>

#include "compiler/algebra/ops.hpp"
#include "compiler/algebra/pairs.hpp"
#include "compiler/algebra/stencil.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/physics/fields/coordinates.hpp"
#include "compiler/physics/fields/source_errors.hpp"
#include "compiler/physics/fields/stencil_errors.hpp"
#include "compiler/physics/lower/calculus.hpp"
#include "compiler/physics/lower/displacement.hpp"
#include "compiler/physics/lower/lower.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "compiler/physics/stages/space.hpp"

namespace vphi::physics {

using algebra::Node;
using algebra::Offset;
using algebra::Op;

Expr wrapped(Expr x, Expr period) {
  Arena& arena = *x->arena;
  return x + period * arena.make(Op::Floor, {arena.rational(1, 2) - x / period});
}

const StateField* angle_of(const Space& d, Expr load) {
  if (!load.is(Op::Load)) return nullptr;
  const StateField* field = d.field_of(load->index);
  return field && field->periodic && field->place(load->index) >= 0 ? field : nullptr;
}

namespace {

Expr period_of(const Space& d, const StateField& field) {
  return d.arena().real(static_cast<long double>(angle_period(d, field)));
}

/// The linear terms of angles, c*th, and the rest, which holds no angle outside of a function.
struct AngleTerms {
  std::vector<std::pair<Expr, Expr>> angles;  ///< c, and a Load
  std::vector<Expr> others;
};

/// Collects the linear terms; false where an angle is inside of a function: sin(th), wrap(th@x -
/// th, 2*pi).
bool collect_angle_terms(const Space& d, Expr e, Expr factor, AngleTerms& terms) {
  const bool any = algebra::contains(e, [&](Expr node) { return angle_of(d, node) != nullptr; });
  if (!any) {
    terms.others.push_back(factor * e);
    return true;
  }
  if (e.is(Op::Add)) {
    return std::ranges::all_of(
        e.args(), [&](Expr term) { return collect_angle_terms(d, term, factor, terms); });
  }
  if (angle_of(d, e)) {
    terms.angles.emplace_back(factor, e);
    return true;
  }
  const Split split = split_uniform(e);
  return !split.uniform.is_one() &&
         collect_angle_terms(d, split.local, factor * split.uniform, terms);
}

/// A linear operator on e: `of_angle` on the angles in it, `plain` on all else.
Expr by_parts_of(const Space& d, Expr e, const std::function<Expr(Expr)>& of_angle,
                 const std::function<Expr(Expr)>& plain) {
  Arena& arena = d.arena();
  AngleTerms terms;
  if (!collect_angle_terms(d, e, arena.integer(1), terms) || terms.angles.empty()) return plain(e);
  Expr sum = terms.others.empty() ? arena.integer(0)
                                  : plain(arena.make(Op::Add, std::move(terms.others), e->span));
  for (const auto& [factor, load] : terms.angles) {
    sum = sum + factor * neighbour(of_angle(arena.load(load->index)), load->offset);
  }
  return sum;
}

}  // namespace

Expr difference(const Space& d, int array, Offset offset) {
  const Expr u = d.arena().load(array);
  const Expr step = neighbour(u, offset) - u;
  const StateField* angle = angle_of(d, u);
  return angle ? wrapped(step, period_of(d, *angle)) : step;
}

namespace {

/// The sum over the faces of a cell of what belongs to the neighbour there, weighted with the area
/// of the face over the distance of the sites, divided by the volume.
Expr over_faces(const Space& d, const std::function<Expr(Offset)>& through) {
  Arena& arena = d.arena();
  if (d.facts.find("laplacian"))
    d.fail(errors::not_yet(d.coordinates.span, "a stencil of the model beside `metric scale`"));
  for (const StateField& field : d.fields)
    if (field.periodic) d.fail(errors::not_yet(field.span, "an angle beside `metric scale`"));
  Expr sum = arena.integer(0);
  for (int axis = 0; axis < d.grid.dims; ++axis) {
    Offset next, back;
    next.d[static_cast<std::size_t>(axis)] = 1;
    back.d[static_cast<std::size_t>(axis)] = -1;
    const Expr weight = face_over_length(d, axis);
    sum = sum + weight * through(next) + neighbour(weight, back) * through(back);
  }
  return sum / cell_volume(d);
}

}  // namespace

Expr laplacian(const Space& d, Expr e) {
  Arena& arena = d.arena();
  if (curvilinear(d)) {
    if (!algebra::per_site(e)) return arena.integer(0);
    return algebra::pow(d.grid.dx, -2) *
           over_faces(d, [&](Offset offset) { return neighbour(e, offset) - e; });
  }
  d.ledger.choice("laplacian");
  const auto of_angle = [&](Expr load) {
    const algebra::StencilData& stencil = arena.stencil_data(d.laplacian);
    if (stencil.spectral)
      d.fail(errors::not_spectral(stencil.span, "an angle has no transform", load->span));
    Expr sum = arena.integer(0);
    for (std::size_t i = 0; i < stencil.offsets.size(); ++i) {
      if (stencil.offsets[i].zero()) continue;
      sum =
          sum + arena.integer(stencil.weights[i]) * difference(d, load->index, stencil.offsets[i]);
    }
    return algebra::pow(d.grid.dx, stencil.dx_power) / arena.integer(stencil.denominator) * sum;
  };
  return by_parts_of(d, e, of_angle,
                     [&](Expr plain) { return apply_stencil(arena, d.laplacian, plain); });
}

Expr slope_along(const Space& d, Expr e, int axis) {
  Offset forth, back;
  forth.d[axis] = 1;
  back.d[axis] = -1;
  const Expr scale = d.arena().rational(1, 2) / d.grid.dx;
  return by_parts_of(
      d, e,
      [&](Expr load) {
        return scale * (difference(d, load->index, forth) - difference(d, load->index, back));
      },
      [&](Expr plain) { return scale * (neighbour(plain, forth) - neighbour(plain, back)); });
}

Expr gradient_square(const Space& d, int array, Expr dx, algebra::Pairs pairs) {
  Arena& arena = d.arena();
  if (curvilinear(d)) {
    return algebra::pow(dx, -2) / arena.integer(2) * over_faces(d, [&](Offset offset) {
             return algebra::pow(difference(d, array, offset), 2);
           });
  }
  const algebra::StencilData& stencil = arena.stencil_data(d.laplacian);
  if (!angle_of(d, arena.load(array))) {
    return arena.integer(2) * algebra::gradient_energy(stencil, arena.load(array), dx, pairs);
  }
  if (stencil.spectral) d.fail(errors::not_spectral(stencil.span, "an angle has no transform", {}));
  Expr sum = arena.integer(0);
  for (std::size_t i = 0; i < stencil.offsets.size(); ++i) {
    if (stencil.offsets[i].zero()) continue;
    sum = sum + arena.integer(stencil.weights[i]) *
                    algebra::pow(difference(d, array, stencil.offsets[i]), 2);
  }
  return algebra::pow(dx, stencil.dx_power) / arena.integer(2 * stencil.denominator) * sum;
}

// ---- equations that see the cut -----------------------------------------------------------------

namespace {

/// Values of an expression at random values of what it reads, one angle of it turned.
class ShiftedValues {
 public:
  ShiftedValues(const Space& d, unsigned seed) : d_(d), random_(seed) {}

  long double of(Expr e, Expr shifted, long double by) {
    return algebra::evaluate_long(e, [&](const Node& node) { return leaf(node, shifted, by); });
  }

 private:
  long double number(const Node& node) {
    const auto [at, fresh] = numbers_.try_emplace(&node, 0.0L);
    if (fresh) at->second = std::uniform_real_distribution<double>(0.2, 1.8)(random_);
    return at->second;
  }
  long double leaf(const Node& node, Expr shifted, long double by) {
    if (node.op == Op::Site) return static_cast<long double>(2 + node.index);
    if (&node == shifted.get()) return number(node) + by;
    if (node.op == Op::Load && node.offset == shifted->offset) {
      // the turns that `displacement` counts for an angle go down when the angle is turned up
      for (const Companions& c : d_.collected.companions) {
        if (c.array == shifted->index && c.winding == node.index && by != 0)
          return number(node) - 1;
      }
    }
    if (node.op == Op::Stencil) {  // never of an angle itself: laplacian() has taken it apart
      return of(algebra::written_out(d_.arena().stencil_data(node.index), node.args[0],
                                     d_.arena().integer(1)),
                shifted, by);
    }
    return number(node);
  }

  const Space& d_;
  std::mt19937 random_;
  std::map<const Node*, long double> numbers_;
};

/// The angle whose turn changes the rate; null where there is none.
const StateField* seen_cut(const Space& d, Expr rate) {
  // a mean and a sum over pairs are periodic where every term is
  const Expr e = algebra::rewrite(rate, [](Expr node) {
    return algebra::reduces_sites(node.op()) || node.is(Op::PairSum) ? node.arg(0) : node;
  });
  constexpr int kPoints = 4;
  for (const Expr read : algebra::reads(e)) {
    const Expr load = read.is(Op::Stencil) ? read.arg(0) : read;
    const StateField* angle =
        algebra::is_other(*load) ? d.field_of(load->index) : angle_of(d, load);
    if (!angle || !angle->periodic) continue;
    const long double period = angle_period(d, *angle);
    for (unsigned point = 0; point < kPoints; ++point) {
      ShiftedValues values(d, point + 1);
      try {
        const long double here = values.of(e, load, 0), there = values.of(e, load, period);
        const long double size = std::fabs(here) + std::fabs(there);
        if (std::isfinite(size) && std::fabs(here - there) > 1e-9L * (size + 1e-6L)) return angle;
      } catch (const std::invalid_argument&) {
        break;
      }
    }
  }
  return nullptr;
}

}  // namespace

void check_angles(const Equations& d) {
  const bool any = std::ranges::any_of(d.fields, &StateField::periodic);
  if (!any) return;
  for (const auto& [array, rate] : d.rates) {
    const StateField* angle = seen_cut(d, rate);
    if (!angle) continue;
    const StateField* moved = d.field_of(array);
    d.fail(errors::angle_cut(d.rate_spans.at(array), moved ? moved->name : angle->name, angle->name,
                             d.facts.field(angle->name)->type->kind == dsl::ExprKind::Call
                                 ? written(d, d.facts.field(angle->name)->type->args[0]->span)
                                 : std::string("2*pi"),
                             angle->span));
  }
}

}  // namespace vphi::physics
