#include "compiler/schedule/outputs/checks.hpp"

#include <algorithm>

namespace vphi::schedule {
namespace {

using algebra::Op;

/// Collects the averages that each output clause needs, and those that all expectations need.
void want_averages(const physics::System& system, Checks& checks) {
  // averages over time have standard errors only where the motion is random
  const bool random =
      system.noise.kind != physics::NoiseClass::None || moves_links(system.dynamics);
  for (std::size_t i = 0; i < system.outputs.size(); ++i) {
    Averages& averages = checks.of_clauses[i];
    if (random && !system.outputs[i].regular()) averages.at_end();
    for (const physics::Observable& o : system.outputs[i].observables) {
      averages.want(o.value);
      averages.want(o.error);
      for (const physics::Observable::Part& part : o.more) averages.want(part.value);
    }
  }
  checks.of_promises.at_end();
  for (const physics::Expectation& e : system.expectations) {
    checks.of_promises.want(e.value);
    checks.of_promises.want(e.ok);
  }
}

/// Slots of the conditions of output clauses: 0 or 1.
std::map<const algebra::Node*, int> conditions(const physics::System& system, Slots& slots,
                                               Observer& observer) {
  algebra::Arena& arena = *system.arena;
  std::map<const algebra::Node*, int> after;
  for (const physics::OutputClause& output : system.outputs) {
    if (!output.after || after.contains(output.after.get())) continue;
    const std::string name = slots.fresh("after");
    observer.assign(name,
                    arena.make(Op::Select, {output.after, arena.integer(1), arena.integer(0)}));
    after[output.after.get()] = slots.index(name);
  }
  return after;
}

}  // namespace

Checks make_checks(const physics::System& system, const Stepping& stepping, Tables& tables) {
  algebra::Arena& arena = *system.arena;
  Slots& slots = tables.slots;
  const std::vector<Averages> of_clauses(system.outputs.size(), Averages(system, slots));
  Checks checks{{}, -1, {}, of_clauses, Averages(system, slots)};
  Observer observer(system, stepping, slots, tables.storage);
  const bool has_time =
      std::ranges::any_of(system.scalars, [&](const auto& s) { return s.symbol == system.time; });
  const std::string time = slots.fresh("time");
  observer.assign(time, has_time ? arena.symbol(system.time)
                                 : arena.symbol(slot::kStep) * arena.real(system.dt_physical));
  checks.time_slot = slots.index(time);
  const Expr last = stepping.stages > 1 ? arena.symbol(slot::kLast) : Expr();
  watch_passages(system, slots, observer, last);
  want_averages(system, checks);
  for (Averages& averages : checks.of_clauses) averages.time_slot(time);
  checks.of_promises.time_slot(time);
  for (std::size_t i = 0; i < system.outputs.size(); ++i)
    checks.of_clauses[i].accumulate(observer, system.outputs[i].averages_from);
  checks.of_promises.accumulate(observer, system.averages_from);
  if (system.until) {
    const Expr stop = arena.symbol(slot::kStop);
    const Expr stops = arena.make(Op::Max, {stop, last ? last : arena.integer(1)});
    observer.assign(slot::kStop, arena.make(Op::Select, {system.until, stops, stop}));
  }
  checks.after = conditions(system, slots, observer);
  checks.loops = observer.finish("check");
  return checks;
}

}  // namespace vphi::schedule
