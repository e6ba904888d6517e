// Derivatives in time along the equations of motion.
#include "compiler/physics/lower/lower.hpp"

#include <algorithm>
#include <functional>
#include <unordered_map>

#include <fmt/format.h>

#include "compiler/algebra/transform.hpp"
#include "compiler/physics/chains/link_flow.hpp"
#include "compiler/physics/chains/sampling.hpp"
#include "compiler/physics/fields/coordinates.hpp"
#include "compiler/physics/lower/calculus.hpp"
#include "compiler/physics/lower/recovery_names.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "program/scalar_names.hpp"

namespace vphi::physics {

using algebra::Op;
using dsl::ExprKind;

Value Lowerer::prime(const dsl::Expr& e, const Scope& scope) {
  const dsl::Expr& base = *e.args[0];
  Value v;
  int left = e.primes;
  if (base.kind == ExprKind::Name && !scope.value(base.text) && d_.field(base.text)) {
    v = field_velocity(*d_.field(base.text), e.span, scope.reading());
    --left;
  } else {
    v = value(base, scope);
    if (auto rate = left == 1 ? rate_of_link(base, v, scope) : nullptr) {
      v = time_derivative(v, e.span);
      v.rate = std::move(rate);
      return v;
    }
  }
  for (; left > 0; --left) v = time_derivative(v, e.span);
  return v;
}

/// Of the link U[i], whose value is `link`; null of anything else.
std::shared_ptr<const LinkRate> Lowerer::rate_of_link(const dsl::Expr& e, const Value& link,
                                                      const Scope& scope) {
  const bool indexed = e.kind == ExprKind::Index && e.args.size() == 2 &&
                       e.args[0]->kind == ExprKind::Name && !scope.value(e.args[0]->text);
  const StateField* field = indexed ? d_.field(e.args[0]->text) : nullptr;
  if (!field || !field->links || link.path) return nullptr;
  const auto axis = direction(*e.args[1], scope);
  if (!axis || axis->sign < 0) return nullptr;
  const auto k = static_cast<std::size_t>(axis->value);
  Value turn;
  if (field->angle) {
    turn.parts = {{integer(0), time_derivative(d_.arena().load(field->arrays[k]), e.span)}};
  } else {
    const int first = field->arrays[k * static_cast<std::size_t>(field->links->reals())];
    const auto motion = std::ranges::find_if(
        d_.link_motions, [&](const LinkMotion& m) { return m.arrays[0] == first; });
    if (motion == d_.link_motions.end()) return nullptr;
    turn = algebra_value(field->links->group, motion->velocity);
    for (Component& part : turn.parts) part = {part.im ? -part.im : integer(0), part.re};
  }
  return std::make_shared<const LinkRate>(LinkRate{std::move(turn), link});
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
      rate = around(d_)(rate, node->offset);
    } else if (node.is(Op::Stencil)) {
      rate = apply_stencil(arena, node->index, time_derivative(node.arg(0), span), around(d_));
    } else if ((node.is(Op::Mean) || node.is(Op::Total)) && flows(d_)) {
      rate = rate_along_flow(node, span);
    } else if (node.is(Op::Mean) || node.is(Op::Total)) {
      rate = arena.make(node.op(), {time_derivative(node.arg(0), span)});
    } else if (node.is(Op::Minimum) || node.is(Op::Maximum)) {
      d_.fail(errors::no_derivative_in_time(span, "an extremum"));
    } else if (node.is(Op::Symbol)) {
      const bool stepwise = std::ranges::any_of(
          d_.collected.passages, [&](const FirstPassage& f) { return f.symbol == node->name; });
      if (stepwise) d_.fail(errors::no_derivative_in_time(span, "what is known step by step"));
      if (d_.curvature_scalar && node == d_.curvature_scalar)
        d_.fail(errors::no_derivative_in_time(span, "the curvature of space-time"));
      if (is_recovery_name(node->name))
        d_.fail(errors::no_derivative_in_time(span, "what `recover` defines"));
      if (d_.expanding() && node->name == program::slope_of(d_.background.scale))
        d_.fail(errors::not_yet(span, "the rate of H in a conservation law"));
      if (node == d_.time())
        rate = arena.integer(1);
      else if (d_.expanding() && node == d_.scale())
        rate = d_.scale() * named_hubble(d_);
      else if (d_.background.metric == Metric::Prescribed && node == d_.hubble()) {
        const Expr a = d_.background.prescribed, t = d_.time();
        rate = algebra::derivative(algebra::derivative(a, t) / a, t);
      } else if (d_.curvature_scalar && node == d_.hubble()) {
        // R = 6 (H' + 2 H^2)
        rate = d_.curvature_scalar / integer(6) - integer(2) * algebra::pow(d_.hubble(), 2);
      } else if (d_.expanding() && node == d_.hubble()) {
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
