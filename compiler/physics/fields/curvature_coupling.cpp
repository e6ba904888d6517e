#include "compiler/physics/fields/curvature_coupling.hpp"

#include <algorithm>

#include "compiler/algebra/ops.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/physics/fields/coordinates.hpp"
#include "compiler/physics/fields/source_errors.hpp"
#include "compiler/physics/lower/lower.hpp"
#include "compiler/physics/physics_errors.hpp"

namespace vphi::physics {

using algebra::Op;

namespace {

/// Whether it is made of fields at the site and of numbers.
bool of_fields(const Theory& d, Expr f) {
  return !algebra::contains(f, [&](Expr node) {
    if (node.is(Op::Stencil) || algebra::reduces_sites(node.op())) return true;
    if (node.is(Op::Symbol))
      return node == d.scale() || node == d.time() || node == d.hubble() ||
             node == d.curvature_scalar;
    if (!node.is(Op::Load)) return false;
    const auto moves = [&](const StateField& field) {
      return std::ranges::count(field.velocities, node->index) > 0;
    };
    return is_gradient(node->index) || !node->offset.zero() || std::ranges::any_of(d.fields, moves);
  });
}

}  // namespace

Expr unknown_curvature(Arena& arena) { return arena.symbol("curvature of space-time"); }

Expr without_curvature(Theory& d, Expr l, dsl::Span span) {
  if (!d.curvature_scalar || !algebra::depends_on(l, d.curvature_scalar)) return l;
  l = algebra::expand(l);
  const Expr f = algebra::derivative(l, d.curvature_scalar);
  const Expr rest = algebra::substitute(l, d.curvature_scalar, d.arena().integer(0));
  if (!of_fields(d, f) || algebra::depends_on(rest, d.hubble()))
    d.fail(errors::curvature_not_linear(span));
  if (!f.is_zero()) d.curvature = d.curvature ? d.curvature + f : f;
  return rest;
}

void close_curvature(Equations& d) {
  if (!d.curvature) return;
  Arena& arena = d.arena();
  const Expr unknown = d.curvature_scalar, planck2 = d.background.planck2;
  const Expr p = Lowerer(d).pressure();
  const Expr slope = algebra::derivative(p, unknown);
  if (algebra::depends_on(slope, unknown))
    d.fail(errors::not_yet(d.facts.lagrangians.front()->value->span,
                           "an equation that is not linear in the curvature"));
  const auto mean = [&](Expr e) { return arena.make(Op::Mean, {e}); };
  const Expr rest = algebra::substitute(p, unknown, arena.integer(0));
  const Expr r = (planck2 * algebra::pow(d.hubble(), 2) - mean(rest)) /
                 (planck2 / arena.integer(3) + mean(slope));
  d.curvature_scalar = r;
  const auto put = [&](Expr& rate, Expr value) {
    if (algebra::depends_on(rate, unknown)) rate = algebra::substitute(rate, unknown, value);
  };
  for (auto& [array, rate] : d.rates) put(rate, r);
  if (d.laws.empty()) return;
  const Expr of_laws = with_named_background(as_laws_see_it(d), r);
  for (auto& [array, rate] : d.conserved_rates) put(rate, of_laws);
  for (Law& law : d.laws)
    for (Expr& source : law.source) put(source, of_laws);
}

}  // namespace vphi::physics
