// Program units: A, B and s as written, from one term of the potential, or all 1.
//
// auto(cpl/beta*phi^beta), phi0 the homogeneous start of phi (specs 3.2, eqs 8 and 9):
//   A = 1/phi0,  B = sqrt(cpl)*phi0^(beta/2 - 1),  s = 3(2 - beta)/(2 + beta)
// makes the term psi^beta/beta, without a scale factor where the oscillation is damped away.
#include <fmt/format.h>

#include "compiler/algebra/transform.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "compiler/physics/steps.hpp"

namespace vphi::physics {

using algebra::Op;

namespace {

void solve_auto(Derivation& d, Lowerer& lower, const dsl::Expr& call) {
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
  const auto coupling = algebra::constant(beta * term / algebra::pow(u, beta));
  if (!coupling || !(coupling->real > 0)) {
    d.fail(errors::rescale_term(call.span, "its coefficient is not positive"));
  }
  const auto start = homogeneous_values(d);
  const auto phi0 = start.find(u->index);
  const auto number =
      phi0 == start.end() || !phi0->second ? std::nullopt : algebra::constant(phi0->second);
  if (!number || number->real == 0) {
    d.fail(errors::rescale_term(call.span, "the field has no homogeneous value at the start"));
  }
  const Expr size = arena.make(Op::Abs, {arena.number(*number)});
  const Expr two = arena.integer(2);
  Rescaling& r = d.rescaling;
  r.A = arena.integer(1) / size;
  r.B = algebra::pow(arena.number(*coupling), arena.rational(1, 2)) *
        algebra::pow(size, beta / two - arena.integer(1));
  r.s = arena.integer(3) * (two - beta) / (two + beta);
  r.automatic = true;
}

}  // namespace

void read_rescale(Derivation& d, Lowerer& lower) {
  Arena& arena = d.arena();
  Rescaling& r = d.rescaling;
  r = {arena.integer(1), arena.integer(1), arena.integer(0)};
  if (const dsl::Clause* clause = d.resolved.clause("rescale")) {
    for (const dsl::Item& item : clause->items) {
      if (!item.head) {
        if (item.value && item.value->kind == dsl::ExprKind::Call && item.value->text == "auto") {
          solve_auto(d, lower, *item.value);
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
      } else if (name == "r" || name == "form") {
        const bool canonical = name == "form" && item.value->text == "canonical";
        if (!canonical) d.fail(errors::not_yet(item.span, "the form with a^r*phi"));
      } else {
        d.fail(errors::rescale_option(item.span, name));
      }
    }
    if (!clause->where.empty()) {
      d.fail(errors::not_yet(clause->where.front().head.span, "`where` behind `rescale`"));
    }
  }
  // rational powers of a stay exact; B and A are used to the last digit
  d.system.A = static_cast<double>(r.A->number.real);
  d.system.B = static_cast<double>(r.B->number.real);
  d.system.s = static_cast<double>(r.s->number.real);
  if (d.grid.present) {
    d.system.lattice.dx = static_cast<double>((r.B * d.grid.dx)->number.real);
  }
  if (r.automatic) {
    d.system.remarks.push_back(fmt::format("auto finds A = {:.9g}, B = {:.9g}, s = {:.9g}",
                                           d.system.A, d.system.B, d.system.s));
  }
}

}  // namespace vphi::physics
