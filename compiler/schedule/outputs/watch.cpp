#include "compiler/schedule/outputs/watch.hpp"

namespace vphi::schedule {

Watch make_watch(const physics::System& system, const Stepping& stepping, const Checks& checks,
                 const SolutionMemory&, Tables& tables, dsl::Diagnostics& diagnostics) {
  Watch result;
  Observer observer(system, stepping, tables.slots, tables.storage, true);
  Averages averages = checks.of_promises;
  averages.inputs(observer);
  result.statistics = averages.statistics();
  const auto slot_of = [&](const char* hint, Expr value, dsl::Span span) {
    if (!value) return -1;
    if (!averages.holds(value)) return observer.scalar(hint, value);
    refuse_state(averages, value, span, diagnostics);
    return averages.slot_of(hint, value);
  };
  for (const physics::Expectation& e : system.expectations) {
    program::Expectation expectation;
    expectation.kind = static_cast<program::Expectation::Kind>(e.kind);
    expectation.text = e.text;
    expectation.bound = e.bound;
    expectation.at_end = e.at_end;
    expectation.value_slot = slot_of("value", e.value, e.span);
    expectation.ok_slot = slot_of("ok", e.ok, e.span);
    expectation.scale_slot = slot_of("scale", e.scale, e.span);
    result.expectations.push_back(expectation);
  }
  for (const physics::Observable& o : system.progress) {
    program::ScalarOutput scalar;
    scalar.name = o.name;
    scalar.slot = observer.scalar(o.name, o.value);
    scalar.drift = o.drift;
    result.progress.push_back(scalar);
  }
  if (system.conservation && system.conservation->unsound)
    result.unsound_slot = observer.scalar("unsound", system.conservation->unsound);
  if (system.friedmann) {
    result.expansion.scale_slot =
        observer.scalar("scale", system.arena->symbol(system.scale_factor));
    result.expansion.residual_slot = observer.scalar("friedmann", system.friedmann);
    result.expansion.explained = system.friedmann_explained;
  }
  result.averages = {averages.windows(false), averages.then()};
  result.loops = observer.finish("watch");
  return result;
}

}  // namespace vphi::schedule
