// Program units: A, B and s as written, from one term of the potential, or A = B = 1 and s = 0.
//
// auto(cpl/beta*phi^beta), phi0 the homogeneous start of phi (docs/formulas.md 1.2):
//   A = 1/phi0,  B = sqrt(cpl)*phi0^(beta/2 - 1),  s = 3(2 - beta)/(2 + beta)
// makes the term psi^beta/beta. The scale factor drops out of the equation where the damping of the
// oscillation has been scaled away. The rescaled form has r = 6/(2 + beta), so that psi'' has no
// friction.
//
// Rescaled form: the friction is (s - 2r + 3) h psi'. If one of r and s is not written it is chosen
// so that the friction vanishes; `where no_friction` requires this of both.
#include <fmt/format.h>

#include "compiler/algebra/transform.hpp"
#include "compiler/physics/clauses/sweep_axes.hpp"
#include "compiler/physics/lower/lower.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "compiler/physics/stages/start.hpp"

namespace vphi::physics {

using algebra::Op;

namespace {

void solve_auto(const Equations& d, Lowerer& lower, const dsl::Expr& call, Rescaling& r) {
  Arena& arena = d.arena();
  if (call.args.size() != 1) d.fail(errors::rescale_term(call.span, "it has one argument"));
  const Expr term = lower.real(*call.args[0], "the term of `auto`");
  const std::vector<Expr> reads = algebra::reads(term);
  if (reads.size() != 1 || !reads[0].is(Op::Load) || !reads[0]->offset.zero()) {
    d.fail(errors::rescale_term(call.span, "it has more than one field"));
  }
  const Expr u = reads[0];
  // u d(term)/du = beta*term for a single power
  const Expr slope = algebra::derivative(term, u);
  const auto power = algebra::constant(u * slope / term);
  if (!power || !(power->real > 0)) {
    d.fail(errors::rescale_term(call.span, "it is no single power"));
  }
  const Expr beta = arena.number(*power);
  const Expr strength = beta * term / algebra::pow(u, beta);
  const auto refuse_swept = [&](Expr e, const char* what) {
    const std::vector<int> axes = axes_of(d, e);
    if (axes.empty()) return;
    const Axis& axis = d.axes[static_cast<std::size_t>(axes[0])];
    d.fail(errors::swept_here(call.span, what, axis.name, axis.span, axis.free));
  };
  refuse_swept(strength, "the coefficient of `auto`");
  const auto coupling = algebra::constant(strength);
  if (!coupling || !(coupling->real > 0)) {
    d.fail(errors::rescale_term(call.span, "its coefficient is not positive"));
  }
  const auto start = homogeneous_values(d, Lowerer(d));
  const auto phi0 = start.find(u->index);
  if (phi0 != start.end() && phi0->second) {
    refuse_swept(phi0->second, "the start of the field in `auto`");
  }
  const auto number =
      phi0 == start.end() || !phi0->second ? std::nullopt : algebra::constant(phi0->second);
  if (!number || number->real == 0) {
    d.fail(errors::rescale_term(call.span, "the field has no homogeneous value at the start"));
  }
  const Expr size = arena.make(Op::Abs, {arena.number(*number)});
  const Expr two = arena.integer(2);
  r.A = arena.integer(1) / size;
  r.B = algebra::pow(arena.number(*coupling), arena.rational(1, 2)) *
        algebra::pow(size, beta / two - arena.integer(1));
  r.s = arena.integer(3) * (two - beta) / (two + beta);
  r.r = arena.integer(6) / (two + beta);
  r.automatic = true;
}

struct Form {
  bool has_r = false, has_s = false, canonical = false, no_friction = false;
  dsl::Span friction_span;
};

/// `where no_friction`.
void read_conditions(const Equations& d, const dsl::Clause& clause, Form& form) {
  if (!clause.where.empty()) {
    d.fail(errors::rescale_option(clause.where.front().head.span, clause.where.front().head.name));
  }
  for (const dsl::Item& item : clause.items) {
    for (const auto& [word, value] : item.words) {
      if (word != "where" || !value) continue;
      if (value->text != "no_friction") {
        d.fail(errors::rescale_option(value->span, written(d, value->span)));
      }
      form.no_friction = true;
      form.friction_span = value->span;
    }
  }
}

/// r and s of the rescaled form; the missing one is chosen so that s - 2r + 3 = 0.
void choose_form(const Equations& d, const dsl::Clause& clause, const Form& form, Rescaling& r) {
  Arena& arena = d.arena();
  const bool asks = form.has_r || form.no_friction;
  if (form.canonical && asks) d.fail(errors::rescale_canonical(clause.keyword_span));
  r.rescaled = r.rescaled || asks;
  if (!r.rescaled) return;
  const Expr two = arena.integer(2), three = arena.integer(3);
  if (!r.automatic) {
    if (form.has_r && !form.has_s) r.s = two * r.r - three;
    if (!form.has_r) r.r = (r.s + three) / two;
  }
  const Expr friction = r.s - two * r.r + three;
  if (form.no_friction && !friction.is_zero()) {
    d.fail(errors::rescale_friction(form.friction_span, static_cast<double>(r.r->number.real),
                                    static_cast<double>(r.s->number.real)));
  }
}

}  // namespace

Rescaling read_rescale(const Equations& d) {
  Lowerer lower(d);
  Arena& arena = d.arena();
  const Expr zero = arena.integer(0);
  Rescaling r{arena.integer(1), arena.integer(1), zero, zero, false, false};
  Form form;
  if (const dsl::Clause* clause = d.resolved.clause("rescale")) {
    for (const dsl::Item& item : clause->items) {
      if (!item.head) {
        if (item.value && item.value->kind == dsl::ExprKind::Call && item.value->text == "auto") {
          solve_auto(d, lower, *item.value, r);
          continue;
        }
        d.fail(errors::rescale_option(item.span, written(d, item.span)));
      }
      const std::string& name = item.head->name;
      if (name == "A" || name == "B") {
        const Expr v = lower.fixed(*item.value, fmt::format("`{}`", name));
        if (!(v->number.real > 0)) {
          d.fail(errors::not_positive(item.span, name, static_cast<double>(v->number.real)));
        }
        (name == "A" ? r.A : r.B) = v;
      } else if (name == "s") {
        r.s = lower.fixed(*item.value, "`s`");
        form.has_s = true;
      } else if (name == "r") {
        r.r = lower.fixed(*item.value, "`r`");
        form.has_r = true;
      } else if (name == "form") {
        const std::string& text = item.value->text;
        if (text != "canonical" && text != "rescaled") {
          d.fail(errors::option_value(item.span, "form", "canonical or rescaled"));
        }
        form.canonical = text == "canonical";
        r.rescaled = !form.canonical;
      } else {
        d.fail(errors::rescale_option(item.span, name));
      }
    }
    read_conditions(d, *clause, form);
    choose_form(d, *clause, form, r);
  }
  // rational powers of a stay exact; B and A are used to the last digit
  const auto number = [](Expr e) { return static_cast<double>(e->number.real); };
  if (r.rescaled) {
    d.remark(fmt::format(
        "rescaled form: psi = A*a^r*phi with r = {:.9g} and its program-time derivative are "
        "stored; a kick needs a'' of the same step, so the averages are taken in a sweep of their "
        "own before it (the canonical form needs one sweep)",
        number(r.r)));
  }
  if (r.automatic) {
    d.remark(fmt::format("auto finds A = {:.9g}, B = {:.9g}, s = {:.9g}", number(r.A), number(r.B),
                         number(r.s)));
  }
  return r;
}

}  // namespace vphi::physics
