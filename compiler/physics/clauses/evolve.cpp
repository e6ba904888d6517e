// The clauses `evolve`, `precision` and `random`: integrator, step, end, numbers.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "compiler/algebra/transform.hpp"
#include "compiler/physics/clauses/clock.hpp"
#include "compiler/physics/clauses/stop_criteria.hpp"
#include "compiler/physics/clauses/sweep_axes.hpp"
#include "compiler/physics/clauses/twists.hpp"
#include "compiler/physics/fluids/conservation_errors.hpp"
#include "compiler/physics/lower/calculus.hpp"
#include "compiler/physics/lower/lower.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "compiler/physics/stages/outputs.hpp"
#include "compiler/text/integrator.hpp"
#include "dsl/messages/error.hpp"

namespace vphi::physics {

using algebra::Op;

namespace {

constexpr long double kMostTogether =
    1000;  // larger numbers are refused by the limits of the device

Launches launches(const std::string& text) {
  if (text == "step") return Launches::Step;
  if (text == "group") return Launches::Group;
  return text == "groups" ? Launches::Groups : Launches::ByCounts;
}

}  // namespace

namespace {

/// `dt = 0.4*dx/max(...)`: a step that depends on the state; null for a number.
Expr step_of_state(const Motion& d, Lowerer& lower, const dsl::Expr& e) {
  const Expr dt = lower.real(e, "dt");
  const bool of_state = algebra::contains(
      dt, [](Expr node) { return node->op >= Op::Mean && node->op <= Op::Maximum; });
  if (!of_state || algebra::per_site(dt) || d.laws.empty()) return {};
  if (d.conservation->step)
    d.fail(errors::not_yet(e.span, "a step that depends on the state, of a scheme that is a step"));
  return dt;
}

/// Refuses `tol` where no error of a step can bound it: `why` not.
void refuse_tolerance(const Motion& d, dsl::Span span) {
  const auto refuse = [&](const std::string& why, const std::string& fix) {
    d.fail(errors::no_tolerance(span, why, fix));
  };
  if (!d.laws.empty())
    refuse("the step of conservation laws is bounded by their signals, not by its error",
           "write dt = 0.4*dx/max(...) with the speed of the signals");
  if (d.motor == Motor::Flow)
    refuse("links that flow move along their group, where two orders have no difference",
           "write dt = ... and no `tol`");
  if (d.resolved.clause("limit"))
    refuse("the error of a step does not know `limit`", "write dt = ... and no `tol`");
}

/// The first trial where no dt is given.
double first_trial(const Motion& d) {
  constexpr double kOfSpacing = 0.1, kAlone = 0.01;
  return d.grid.present && !d.grid.counted
             ? kOfSpacing * static_cast<double>(d.grid.dx->number.real)
             : kAlone;
}

}  // namespace

Evolve read_evolve(const Motion& known) {
  Motion d = known;
  const dsl::Clause* clause = d.ledger.clause("evolve");
  Evolve& evolve = d;
  if (!clause && d.fields.empty()) {  // nothing evolves: outputs are made of the start
    evolve.dt_program = evolve.dt_physical = 1;
    return evolve;
  }
  if (!clause) d.fail(errors::no_evolve(d.grid.span));
  evolve.evolve_span = evolve.dt_span = clause->keyword_span;
  std::optional<Evolution> evolution;
  Options options;
  std::optional<Tolerance> tolerance;
  dsl::Span tolerance_span;
  bool by_scheme = false;  // `evolve scheme`: the flux scheme is a step by itself
  for (const dsl::Item& item : clause->items) {
    if (!item.head) {
      const std::string text = item.value ? item.value->text : std::string();
      if (text == "scheme") {
        if (!d.resolved.clause("conserve")) d.fail(errors::no_laws(item.span));
        by_scheme = true;
        continue;
      }
      if (!d.facts.integrators.contains(text)) {
        std::vector<std::string> known;
        for (const auto& [other, text_of] : d.facts.integrators) known.push_back(other);
        d.fail(errors::unknown_integrator(item.span, text, known));
      }
      auto integrator = text::read_integrator(text, item.span, d.resolved, d.diagnostics);
      if (!integrator) throw Failure{};
      evolution = Evolution{std::move(*integrator), {}};
      continue;
    }
    if (item.head->name != "until") d.ledger.use(item);
    Lowerer lower(d);
    if (item.head->name == "dt") {
      evolve.dt_span = item.span;
      if (const Expr dt = step_of_state(d, lower, *item.value)) {
        d.dt = dt;
        evolve.dt_physical = evolve.dt_program = 1;
        d.remark("dt depends on the state: a dt of 1 that is reported is one step of it");
        continue;
      }
      const Expr dt = lower.fixed(*item.value, "dt");
      const double value = static_cast<double>(dt->number.real);
      if (!(value > 0)) d.fail(errors::step_not_positive(item.span, value));
      d.dt = dt;
      evolve.dt_physical = value;
      evolve.dt_program = static_cast<double>((d.rescaling.B * dt)->number.real);
    } else if (item.head->name == "tol" || item.head->name == "floor") {
      if (!tolerance) tolerance.emplace();
      const bool tol = item.head->name == "tol";
      const auto value =
          static_cast<double>(lower.fixed(*item.value, item.head->name)->number.real);
      if (!(value > 0)) d.fail(errors::not_positive(item.span, item.head->name, value));
      (tol ? tolerance->tol : tolerance->floor) = value;
      if (tol || tolerance_span.empty()) tolerance_span = item.span;
    } else if (item.head->name == "launch") {
      if (item.value) evolve.launches = launches(item.value->text);
    } else if (item.head->name == "together") {
      const Expr steps = lower.fixed(*item.value, "together");
      evolve.together = {static_cast<int>(std::min(steps->number.real, kMostTogether)), item.span};
    } else if (item.head->name != "until") {
      options.emplace_back(item.head->name, lower.real(*item.value, item.head->name));
    }
  }
  if (tolerance) {
    refuse_tolerance(d, tolerance_span);
    if (!(tolerance->tol > 0))
      d.fail(errors::no_tolerance(tolerance_span, "there is no `tol` beside `floor`",
                                  "write tol = 1e-8, say"));
    if (!evolution)
      d.fail(errors::no_tolerance(tolerance_span, "a scheme that is a step has no error estimate",
                                  "take an integrator with a line `error = ...`, such as tsit5"));
    if (d.adaptive())
      d.fail(errors::no_tolerance(tolerance_span, "dt is a function of the state already",
                                  "write a number for dt, or no dt"));
    if (evolve.together.steps > 1)
      d.fail(errors::no_tolerance(tolerance_span, "several steps together have one length",
                                  "write no `together`"));
    tolerance->bounded = evolve.dt_program > 0;
    if (!tolerance->bounded) {
      evolve.dt_physical = first_trial(d);
      d.dt = d.arena().real(evolve.dt_physical);
      evolve.dt_program = static_cast<double>((d.rescaling.B * d.dt)->number.real);
    }
    tolerance->first = evolve.dt_program;
    evolve.dt_span = tolerance_span;
    evolution->tolerance = tolerance;
  }
  if (evolution) {
    evolution->options = std::move(options);
    evolve.dynamics = std::move(*evolution);
  } else if (by_scheme) {
    evolve.dynamics = FluxStep{};
  } else {
    d.fail(errors::no_evolve(clause->keyword_span));
  }
  if (!(evolve.dt_program > 0))
    d.fail(errors::not_fixed(clause->keyword_span, "dt, which is not given,"));
  return evolve;
}

namespace {

/// `equal`: the condition compares a time exactly; `first`: it holds from the first step on.
dsl::Diagnostic end_never_reached(dsl::Span span, const std::string& text, bool equal, bool first) {
  const std::string what = equal   ? "is met by chance alone"
                           : first ? "holds from the first step on"
                                   : "never holds";
  return dsl::error("E0317", span,
                    fmt::format("the run ends where `{}` holds, and that {}", text, what), "",
                    "`until` is looked at after each step, and time only grows",
                    "write the time at which the run ends: until = t >= 100");
}

/// Refuses conditions that make no end. Time only grows: `t < 5` holds from the first step on or
/// never, and no step is sure to hit `t == 5`.
void refuse_backward_end(const Motion& d, Expr test, dsl::Span span) {
  const auto is_time = [&](Expr e) { return e == d.time(); };
  const bool below = (test.is(Op::Less) || test.is(Op::LessEqual)) && is_time(test.arg(0)) &&
                     algebra::constant(test.arg(1));
  const bool at = test.is(Op::Equal) && (is_time(test.arg(0)) || is_time(test.arg(1)));
  const auto fixed = algebra::constant(test);
  if (!below && !at && !fixed) return;
  bool first = fixed && fixed->real != 0;
  if (below) {
    const auto bound = algebra::constant(test.arg(1));
    const double step = d.adaptive() || d.tolerance() ? 0 : d.dt_physical;
    first = static_cast<long double>(d.start_time) + step < bound->real;
  }
  d.fail(end_never_reached(span, written(d, span), at, first));
}

/// Of steps that end at the end of the run exactly, `t > end` means `t >= end`.
Expr with_end_met(const Motion& d, Expr test) {
  if (!d.tolerance() || !test.is(Op::Less) || !(test.arg(1) == d.time())) return test;
  return d.arena().make(Op::LessEqual, {test.arg(0), test.arg(1)}, test->span);
}

}  // namespace

End read_until(const Program& d, Lowerer& lower, ProgramUnits& units) {
  End result;
  const dsl::ExprPtr until = until_expression(d);
  if (!until && !d.tolerance()) return result;
  const dsl::Span span = until ? until->span : d.evolve_span;
  Expr test;
  for (const dsl::ExprPtr& part : until ? alternatives(until) : std::vector<dsl::ExprPtr>{}) {
    const Expr physical = lower.real(*part, "`until`");
    const bool passage = std::ranges::any_of(d.collected.passages, [&](const FirstPassage& f) {
      return f.condition && algebra::depends_on(physical, d.arena().symbol(f.symbol));
    });
    if (passage) d.fail(errors::not_yet(part->span, "`until` of `first`"));
    if (holds_statistics(d, physical)) continue;  // read_targets
    const Expr here = with_end_met(d, by_steps(d, scalar_quantity(d, units, physical)));
    if (algebra::per_site(here)) {
      d.fail(errors::not_scalar_output(part->span, written(d, part->span)));
    }
    refuse_backward_end(d, here, part->span);
    test = test ? d.arena().make(Op::Or, {test, here}, span) : here;
  }
  if (d.tolerance()) {
    const Expr failed =
        d.arena().make(Op::Less, {d.arena().rational(1, 2), d.arena().symbol(Tolerance::kFailed)});
    test = test ? d.arena().make(Op::Or, {test, failed}, span) : failed;
  }
  if (!test) return result;
  result.until = test;
  // `t > end` with t proportional to the number of steps
  if (!test.is(Op::Less) && !test.is(Op::LessEqual)) return result;
  const auto end = algebra::constant(test.arg(0));
  const long double way = end ? end->real - static_cast<long double>(d.start_time) : 0;
  if (end && test.arg(1) == d.time() && counts_steps(d) && way > 0) {
    result.end_time = static_cast<double>(way);
  }
  return result;
}

namespace {

Precision precision(const Context& d, const dsl::Expr& e) {
  if (e.text == "f32") return Precision::F32;
  if (e.text == "f64") return Precision::F64;
  d.fail(errors::option_value(e.span, "precision", "f32 or f64"));
}

}  // namespace

Precision real_precision(const Context& d) {
  if (!d.options.precision.empty())
    return d.options.precision == "f32" ? Precision::F32 : Precision::F64;
  Precision real = Numerics().real;
  if (const dsl::Clause* clause = d.resolved.clause("precision")) {
    for (const dsl::Item& item : clause->items) {
      if (item.value && (!item.head || item.head->name == "real")) real = precision(d, *item.value);
    }
  }
  return real;
}

namespace {

/// Arrays of the fields whose lines say `store = deviation`.
std::map<int, dsl::Span> read_deviations(const Motion& d) {
  std::map<int, dsl::Span> result;
  for (const StateField& field : d.fields) {
    const FieldFact* fact = d.facts.field(field.name);
    if (!fact || !fact->line || fact->line->keyword != "field") continue;
    const auto store = d.ledger.option(*fact->line, "store");
    if (!store || store->text != "deviation") continue;
    if (field.angle || field.periodic || field.particle || field.link || field.drawn)
      d.fail(errors::no_deviation(store->span,
                                  fmt::format("`{}` is no real or complex field", field.name)));
    const Walls walls = d.walls_of(field.arrays[0]);
    if (walls.boundary != d.grid.boundary || twisted(walls))
      d.fail(errors::no_deviation(store->span, "the field has walls of its own"));
    for (const int array : field.arrays) result[array] = store->span;
    for (const int array : field.velocities) result[array] = store->span;
    if (const StateField* momentum = d.conjugate(field))
      for (const int array : momentum->arrays) result[array] = store->span;
  }
  return result;
}

dsl::Diagnostic negative_seed(dsl::Span span, std::int64_t seed) {
  return dsl::error("E0422", span, fmt::format("the seed is {}, below 0", seed), "",
                    "a seed is a whole number from 0 on, as that of `vphi run --seed`",
                    "take another number");
}

}  // namespace

Arithmetic read_numerics(const Motion& d) {
  Lowerer lower(d);
  Arithmetic result;
  Numerics& numerics = result.numerics;
  numerics.real = real_precision(d);
  std::optional<Precision> store, pair;
  std::vector<std::pair<const dsl::Item*, const StateField*>> own;  ///< memory of one field
  if (const dsl::Clause* clause = d.ledger.clause("precision")) {
    for (const dsl::Item& item : clause->items) {
      if (!item.head) continue;
      if (item.head->name != "pair") d.ledger.use(item);
      const std::string& name = item.head->name;
      const std::string& text = item.value->text;
      if (name == "real") continue;
      if (name == "store") {
        store = precision(d, *item.value);
      } else if (name == "sum") {
        if (text == "kahan")
          numerics.sum = SumKind::Kahan;
        else if (text == "pairwise")
          numerics.sum = SumKind::Pairwise;
        else if (text == "plain")
          numerics.sum = SumKind::Plain;
        else if (text == "f64")
          numerics.sum = SumKind::F64;
        else
          d.fail(errors::option_value(item.span, "sum", "kahan, pairwise, f64 or plain"));
      } else if (name == "pair") {
        pair = precision(d, *item.value);
      } else if (const StateField* field = d.field(name);
                 field && !field->primitive && !field->particle && !field->link) {
        own.emplace_back(&item, field);
      } else {
        d.fail(errors::not_yet(item.span, fmt::format("a precision of its own for `{}`", name)));
      }
    }
  }
  if (!d.options.precision.empty()) {
    store.reset();
    own.clear();
  }
  numerics.store = store.value_or(numerics.real);
  numerics.pair = pair.value_or(numerics.real);
  for (const auto& [item, field] : own) {
    const Precision memory = precision(d, *item->value);
    for (const int array : field->arrays) numerics.stores[array] = memory;
    for (const int array : field->velocities) numerics.stores[array] = memory;
    if (memory == Precision::F64 && numerics.real == Precision::F32) {
      d.diagnostics.add(errors::stored_finer(item->span, field->name));
    }
  }
  numerics.deviations = read_deviations(d);
  if (const dsl::Clause* clause = d.resolved.clause("random")) {
    if (const auto seed = dsl::option(*clause, "seed")) {
      const std::int64_t number = lower.fixed_integer(*seed, "the seed");
      if (number < 0) d.fail(negative_seed(seed->span, number));
      result.seed = static_cast<std::uint64_t>(number);
    }
    for (const dsl::Item& item : clause->items) {
      if (item.head || !item.value) continue;
      const std::string& name = item.value->text;
      if (name == "philox7") result.generator = Generator::Philox7;
      if (name == "xorshift" || name == "xorshift32") result.generator = Generator::Xorshift32;
      if (name == "ranlux") d.fail(errors::not_yet(item.span, "the generator `ranlux`"));
    }
  }
  if (d.options.seed) result.seed = *d.options.seed;
  return result;
}

}  // namespace vphi::physics
