#include "compiler/physics/clauses/twists.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/algebra/axis_names.hpp"
#include "compiler/algebra/ops.hpp"
#include "compiler/algebra/stencil.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/physics/clauses/box_errors.hpp"
#include "compiler/physics/lower/calculus.hpp"
#include "compiler/physics/spinors/linear_map.hpp"

namespace vphi::physics {

using algebra::Op;

namespace {

/// Real and imaginary part of a component of a complex field, or of its velocity.
struct ComplexParts {
  int re, im;
};

/// The component that an array is a part of. Arrays of a complex field are re, im of one component
/// after the other.
ComplexParts parts_of_component(const StateField& field, int array) {
  const int own = field.place(array);
  const std::vector<int>& all = own >= 0 ? field.arrays : field.velocities;
  const auto place = static_cast<std::size_t>(
      own >= 0 ? own : static_cast<int>(std::ranges::find(all, array) - all.begin()));
  const std::size_t first = place - place % 2;
  return {all.at(first), all.at(first + 1)};
}

/// exp(i times theta)
struct TwistPhase {
  Expr cosine, sine;
};

TwistPhase phase_of_twist(Expr angle, std::int64_t times) {
  Arena& arena = *angle->arena;
  const Expr turn = arena.integer(times) * angle;
  return {arena.make(Op::Cos, {turn}), arena.make(Op::Sin, {turn})};
}

Expr angle_of_twist(const Declared& d, int array, int axis) {
  return d.walls_of(array).twist[static_cast<std::size_t>(axis)];
}

/// |grad re|^2 and |grad im|^2 mix with grad re . grad im, here a leaf of its own.
Expr turned_square(const Declared& d, Expr load, const ComplexParts& parts, Expr angle) {
  Arena& arena = d.arena();
  const auto at = [&](int array) { return arena.load(array, load->offset); };
  const auto [c, s] = phase_of_twist(angle, 1);
  const bool real = load->index == gradient_of(parts.re);
  const Expr own = at(load->index), other = at(gradient_of(real ? parts.im : parts.re));
  const Expr both = arena.integer(2) * c * s * at(2 * kGradientBase + parts.re);
  return c * c * own + s * s * other + (real ? -both : both);
}

bool changes_sign(const Walls& walls, int axis) {
  return walls.boundary[static_cast<std::size_t>(axis)] == Boundary::Antiperiodic;
}

/// The value where every field has its phase of the axis, or its sign.
Expr with_phases(const Declared& d, Expr value, int axis) {
  return algebra::rewrite(with_signs(d, value, axis), [&](Expr node) -> Expr {
    if (!node.is(Op::Load)) return node;
    const bool gradient = is_gradient(node->index);
    const int array = gradient ? node->index - kGradientBase : node->index;
    const Expr angle = angle_of_twist(d, array, axis);
    if (!angle) return node;
    if (gradient)
      return turned_square(d, node, parts_of_component(*d.field_of(array), array), angle);
    return turned_read(d, array, axis, 1,
                       [&](int part) { return d.arena().load(part, node->offset); });
  });
}

/// The sum of the terms that read neighbours along the axis.
Expr terms_across(Expr density, int axis) {
  std::vector<Expr> terms;
  for (const Expr term : flat_terms(density)) {
    const bool reads = algebra::contains(term, [&](Expr node) {
      if (node.is(Op::Load)) return is_gradient(node->index) || node->offset.d[axis] != 0;
      return node.is(Op::Stencil);
    });
    if (reads) terms.push_back(term);
  }
  return density->arena->make(Op::Add, std::move(terms), density->span);
}

}  // namespace

std::vector<Expr> without_averages(Expr density) {
  std::vector<Expr> result;
  const Expr rest = algebra::rewrite(density, [&](Expr node) {
    if (!algebra::reduces_sites(node.op())) return node;
    result.push_back(node.arg(0));
    return node->arena->symbol(fmt::format("average {}", node->id));
  });
  result.push_back(rest);
  return result;
}

bool has_walls(const StateField& field) { return !field.spinor && !field.link && !field.particle; }

// The minus is a symbol first: -(-u) would be u again, which is read as a field that has its sign
// still to change.
Expr with_signs(const Declared& d, Expr value, int axis) {
  Arena& arena = *value->arena;
  const Expr minus = arena.symbol("minus across the end");
  const Expr marked = algebra::rewrite(value, [&](Expr node) {
    const StateField* field = node.is(Op::Load) ? d.field_of(node->index) : nullptr;
    const bool odd = field && has_walls(*field) && changes_sign(d.walls_of(node->index), axis);
    return odd ? minus * node : node;
  });
  return algebra::substitute(marked, minus, arena.integer(-1));
}

bool twisted(const Walls& walls) {
  return std::ranges::any_of(walls.twist, [](Expr angle) { return static_cast<bool>(angle); });
}

Expr turned_read(const Declared& d, int array, int axis, std::int64_t times,
                 const std::function<Expr(int)>& load) {
  if (times == 0) return load(array);
  const ComplexParts parts = parts_of_component(*d.field_of(array), array);
  const auto [c, s] = phase_of_twist(angle_of_twist(d, array, axis), times);
  return array == parts.re ? c * load(parts.re) - s * load(parts.im)
                           : c * load(parts.im) + s * load(parts.re);
}

bool periodic_across_twist(const Declared& d, Expr value, int axis) {
  const Expr site = d.arena().site(axis);
  const Expr beyond = site + d.arena().integer(d.grid.extent[static_cast<std::size_t>(axis)]);
  const Expr here = without_averages(value).back();
  return !differ({here}, {algebra::substitute(with_phases(d, here, axis), site, beyond)});
}

void check_twists(const Declared& d, Expr density, dsl::Span span, bool signs) {
  for (const StateField& field : d.fields) {
    if (!has_walls(field)) continue;
    const Walls walls = d.walls_of(field.arrays[0]);
    for (int axis = 0; axis < d.grid.dims; ++axis) {
      const bool turned = static_cast<bool>(walls.twist[static_cast<std::size_t>(axis)]);
      if (!turned && !(signs && changes_sign(walls, axis))) continue;
      for (const Expr part : without_averages(density))
        if (const Expr terms = terms_across(part, axis);
            differ({terms}, {with_phases(d, terms, axis)}))
          d.fail(
              errors::twist_seen(span, field.name, algebra::kAxisNames[axis], !turned, field.span));
    }
  }
}

}  // namespace vphi::physics
