// Background: Minkowski, a prescribed scale factor, or one that follows the lattice averages.
//
// With b = da/d(eta), d(eta) = B*a^s dt and the constraint H^2 = <rho>/(3 M^2), as derived in
// docs/formulas.md 1.1 and 1.4:
//   a' = b
//   b' = -(a^(1-2s)/(6 B^2 M^2)) <(1+2s)*rho + 3*p>
//   H  = B*a^(s-1)*b
// In the rescaled form the kinetic energy, which holds b, is taken out by the constraint
// (docs/formulas.md 1.2): b' = -(s+2) b^2/a + (a^(1-2s)/(2 B^2 M^2)) <rho - p>.
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

#include "compiler/algebra/transform.hpp"
#include "compiler/physics/clauses/sweep_axes.hpp"
#include "compiler/physics/fields/background_errors.hpp"
#include "compiler/physics/fields/prescribed.hpp"
#include "compiler/physics/fields/program_units.hpp"
#include "compiler/physics/lower/calculus.hpp"
#include "compiler/physics/lower/lower.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "compiler/physics/stages/start.hpp"
#include "dsl/types/units.hpp"

namespace vphi::physics {

using algebra::Op;

Expr read_units(const Context& d) {
  const Expr one = d.arena().integer(1);
  // what the text gives in units is converted to the base (dsl/types/unit_check.hpp)
  if (!d.resolved.units.empty()) d.ledger.clauses("units");
  const dsl::Clause* metric = d.resolved.clause("metric");
  if (!metric) return one;
  const dsl::Clause* units = d.ledger.clause("units");
  for (const dsl::Item& item : units ? units->items : std::vector<dsl::Item>{}) {
    if (item.value && item.value->text == "reduced_planck") return one;
    if (item.value && item.value->text == "planck") {
      // G = 1: (8 pi G)^-1
      return d.arena().real(1 / (8 * acosl(-1.0L)));
    }
    if (!item.value) continue;
    if (const auto gev = dsl::base_energy(item.value->text)) {
      const double mass = dsl::size_in_base(*dsl::find_unit("m_pl_reduced"), *gev);
      return d.arena().real(static_cast<long double>(mass) * mass);
    }
  }
  const dsl::Item* form = metric->items.empty() ? nullptr : &metric->items.front();
  const bool closed = form && form->value && form->value->kind == dsl::ExprKind::Call &&
                      form->value->text == "frw" && form->value->named.empty();
  if (closed) d.diagnostics.add(errors::planck_mass_open(metric->keyword_span));
  return one;
}

std::optional<double> prescribed_scale(const Space& d, double time) {
  const algebra::Environment at{[&](const algebra::Node& leaf) {
    if (&leaf != d.time().get()) throw std::invalid_argument("known in the run alone");
    return time;
  }};
  try {
    return algebra::evaluate(d.background.prescribed, at);
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
}

void check_prescribed(const Space& d, double duration) {
  constexpr int kTimes = 512;
  if (d.background.metric != Metric::Prescribed || !(duration > 0)) return;
  const double start = d.start_time;
  for (int i = 1; i <= kTimes; ++i) {
    const double time = start + duration * i / kTimes;
    const auto scale = prescribed_scale(d, time);
    if (!scale) return;
    if (std::isfinite(*scale) && *scale > 0) continue;
    d.fail(errors::scale_in_run(d.background.span, d.background.scale, *scale, time));
  }
}

namespace {

/// a = t^(1/2) is 0 at t = 0, where a box may begin. What is swept is known in the run alone.
void check_start(const Space& d, const dsl::Expr& written) {
  const auto scale = prescribed_scale(d, d.start_time);
  if (!scale || (std::isfinite(*scale) && *scale >= 0)) return;
  d.fail(errors::scale_at_start(written.span, d.background.scale, *scale, d.start_time));
}

}  // namespace

Background read_metric(const Space& known, Expr planck2) {
  Space d = known;
  Background& b = d.background;
  b.planck2 = planck2;
  const auto clauses = d.resolved.clauses("metric");
  if (clauses.empty()) return b;
  const dsl::Clause& clause = *clauses.front();
  b.span = clause.keyword_span;
  if (clause.items.empty() || !clause.items.front().value) d.fail(errors::metric_form(b.span));
  const dsl::Expr& form = *clause.items.front().value;
  if (form.kind == dsl::ExprKind::Name && form.text == "minkowski") return b;
  if (form.kind == dsl::ExprKind::Call && form.text == "scale") return b;  // read_coordinates
  if (form.kind != dsl::ExprKind::Call || form.text != "frw")
    d.fail(errors::metric_form(form.span));
  if (form.named.size() == 1 && form.args.empty()) {
    b.metric = Metric::Prescribed;
    b.scale = form.named[0].name;
    b.prescribed = Lowerer(d).real(*form.named[0].value, "the scale factor");
    check_start(d, *form.named[0].value);
  } else if (form.args.size() == 1 && form.args[0]->kind == dsl::ExprKind::Name) {
    b.metric = Metric::SelfConsistent;
    b.scale = form.args[0]->text;
  } else {
    d.fail(errors::metric_form(form.span));
  }
  // symbols in physical expressions, so that equal terms of rho and p cancel exactly
  for (const char* fluid : {"rho_r", "rho_m"}) {
    const auto density = d.ledger.option(clause, fluid);
    if (!density) continue;
    const Expr symbol = d.arena().symbol(fluid, density->span);
    b.fluids.emplace(symbol.get(), Lowerer(d).fixed(*density, fluid));
    (std::string(fluid) == "rho_r" ? b.radiation : b.matter) = symbol;
  }
  return b;
}

Expr hubble2(const Space& d, Expr density) {
  return density / (d.arena().integer(3) * d.background.planck2);
}

namespace {

/// Refuses potentials for which d(rho)/dt = -3 H (rho + p) does not hold. It holds for densities of
/// the fields, their momenta and a alone. One that holds t exchanges energy that is not in rho, and
/// one that holds H changes the constraint.
void check_autonomous(const Motion& d, Lowerer& lower) {
  const Expr density = lower.energy_density();
  const bool time = algebra::depends_on(density, d.time()) ||
                    algebra::depends_on(density, d.arena().symbol("step"));
  // that of a coupling to the curvature belongs to it (curvature_coupling.hpp)
  const bool rate = algebra::depends_on(d.curvature ? d.lagrangian : density, d.hubble());
  if (!time && !rate) return;
  const NamedFact* source = !d.hamiltonian                ? nullptr
                            : d.facts.lagrangians.empty() ? d.facts.find("H")
                                                          : d.facts.lagrangians.front();
  for (const NamedFact* fact : d.lagrangian ? d.facts.lagrangians : d.facts.potentials) {
    const Expr v = lower.real(*fact->value, "a source");
    if (algebra::depends_on(v, rate ? d.hubble() : d.time())) source = fact;
  }
  const dsl::Span span = source ? source->value->span : d.background.span;
  d.fail(errors::not_autonomous(span, time ? "t" : "H",
                                d.hamiltonian  ? "Hamiltonian"
                                : d.lagrangian ? "Lagrangian"
                                               : "potential",
                                d.background.scale, d.background.span));
}

}  // namespace

Expr background_rate(const Motion& d, ProgramUnits& units) {
  if (d.background.metric != Metric::SelfConsistent) return {};
  Lowerer lower(d);
  check_autonomous(d, lower);
  Arena& arena = d.arena();
  const Rescaling& r = d.rescaling;
  const Expr one = arena.integer(1), two = arena.integer(2), three = arena.integer(3);
  const Expr a = d.scale(), b = arena.symbol(units.slope_name());
  const Expr power = algebra::pow(a, one - two * r.s) / (r.B * r.B * d.background.planck2);
  const auto source = [&](Expr of_rho, Expr of_p) {
    std::vector<Expr> terms;
    for (const Expr t : flat_terms(lower.energy_density())) terms.push_back(of_rho * t);
    for (const Expr t : flat_terms(lower.pressure())) terms.push_back(of_p * t);
    return units.quantity_of_step(arena.make(Op::Mean, {arena.make(Op::Add, std::move(terms))}));
  };
  if (d.rescaled()) {
    const Expr average = source(one, -one);
    return snap_numbers(-((r.s + two) * algebra::pow(b, 2) / a) + distribute(power / two, average));
  } else {
    const Expr average = source(one + two * r.s, three);
    return snap_numbers(distribute(-(power / arena.integer(6)), average));
  }
}

namespace {

void self_consistent(const Program& d, ProgramUnits& units, const StartValues& start) {
  Lowerer lower(d);
  Arena& arena = d.arena();
  const Rescaling& r = d.rescaling;
  const Expr one = arena.integer(1);
  const Expr b = arena.symbol(units.slope_name());

  bool known = false;
  const Expr at_rest =
      at_homogeneous(d, lower.energy_density(), homogeneous_values(d, Lowerer(d)), known);
  const auto total = range_of(d, at_rest);
  if (known && total && !(total->low > 0)) {
    d.fail(errors::no_expansion(d.background.span, total->low));
  }

  // at a = 1: b = H/B
  const Expr slope = hubble_at_start(d, units, start) / r.B;

  const auto in_step = [&](Expr rate) { return d.adaptive() ? d.dt * rate : rate; };
  d.collected.scalars.push_back({d.background.scale, in_step(b), one, d.background.scale});
  d.collected.scalars.push_back({units.slope_name(), in_step(units.slope_rate), snap_numbers(slope),
                                 "d" + d.background.scale + "/d(eta)"});
}

}  // namespace

void background_scalars(const Program& d, ProgramUnits& units, const StartValues& start) {
  Arena& arena = d.arena();
  if (d.background.metric == Metric::SelfConsistent) self_consistent(d, units, start);
  // d(eta) = B*a^s dt
  if (units.explicit_time()) {
    d.collected.scalars.push_back(
        {"program_time", arena.integer(1), units.program_start(), "program time"});
  }
  const Expr rate =
      d.adaptive() ? d.dt : algebra::pow(units.scale(), -d.rescaling.s) / d.rescaling.B;
  d.collected.scalars.push_back({"t", rate, arena.real(d.start_time), "t"});
  if (const Tolerance* tolerance = d.tolerance()) {
    const Expr none = arena.integer(0), first = arena.real(tolerance->first);
    d.collected.scalars.push_back({Tolerance::kNext, none, first, "the next step"});
    for (const char* name :
         {Tolerance::kTaken, Tolerance::kAccepted, Tolerance::kRejected, Tolerance::kFailed})
      d.collected.scalars.push_back({name, none, none, name});
  }
}

}  // namespace vphi::physics
