#include "compiler/schedule/steps/step_loops.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/kernel/kernel.hpp"
#include "compiler/schedule/outputs/averages.hpp"
#include "compiler/schedule/steps/lattice_kernel.hpp"

namespace vphi::schedule {
namespace {

using algebra::Op;
using kernel::ScalarAssign;

/// Assignments of the new values of scalars, as if made at once: a present value that another
/// scalar takes is saved before it is overwritten.
std::vector<ScalarAssign> new_scalars(const physics::System& system, const Stepping& stepping,
                                      Slots& slots) {
  std::vector<ScalarAssign> kept, moved = stepping.finish;
  for (ScalarAssign& assign : moved) {
    if (!assign.value.is(Op::Symbol)) continue;
    const std::string& name = assign.value->name;
    const bool state =
        std::ranges::any_of(system.scalars, [&](const auto& s) { return s.symbol == name; });
    if (!state) continue;
    const std::string aside = slots.fresh(name + "_old");
    kept.push_back({aside, assign.value});
    assign.value = system.arena->symbol(aside);
  }
  kept.insert(kept.end(), moved.begin(), moved.end());
  return kept;
}

/// Assigns stage and number of the step, `ran` and `started`, at the end of a step.
void keep_count(const physics::System& system, const Stepping& stepping,
                std::vector<ScalarAssign>& finish) {
  algebra::Arena& arena = *system.arena;
  const auto symbol = [&](const char* name) { return arena.symbol(name); };
  const Expr one = arena.integer(1), zero = arena.integer(0);
  Expr last = one;
  if (stepping.stages > 1) {
    const Expr at_last =
        arena.make(Op::LessEqual, {arena.integer(stepping.stages - 1), symbol(slot::kStage)});
    finish.push_back({slot::kLast, arena.make(Op::Select, {at_last, one, zero})});
    last = symbol(slot::kLast);
    finish.push_back({slot::kStage, (one - last) * (symbol(slot::kStage) + one)});
  }
  const Expr runs = last * (one - symbol(slot::kStop));
  using physics::Tolerance;
  const bool trials = tolerance_of(system.dynamics) != nullptr;  // not those that wait
  finish.push_back({slot::kStep, trials
                                     ? symbol(Tolerance::kAccepted) + symbol(Tolerance::kRejected)
                                     : symbol(slot::kStep) + runs});
  if (needs_ran(system)) finish.push_back({slot::kRan, runs});
  if (!stepping.missing.empty())
    finish.push_back({slot::kStarted, arena.make(Op::Max, {symbol(slot::kStarted), runs})});
}

}  // namespace

kernel::Kernel before_map(const physics::System& system) {
  return scalar_kernel(system, "before_map", {{slot::kStage, system.arena->symbol(slot::kStage)}});
}

StepLoops step_loops(const physics::System& system, const Stepping& stepping, Slots& slots) {
  StepLoops result;
  result.remarks.assign(stepping.remarks.begin(), stepping.remarks.end());
  result.stages = stepping.stages;
  result.cycle = stepping.cycle;
  result.in_order = stepping.in_order;
  for (const FluxPart& part : stepping.parts) {
    StepPart& own = result.parts.emplace_back();
    own = {sequence_of(part.sweeps, part.finish), part.solve, part.maps, part.leader};
    if (part.maps.empty() || !own.loops.sweeps.empty()) continue;
    kernel::SiteLoop& scalars = own.loops.sweeps.emplace_back();
    scalars.kernel = before_map(system);
    scalars.before = part.sweeps.alone;
    own.loops.swaps.emplace_back();
  }
  result.first = sequence_of(stepping.first, stepping.first_finish);
  result.first_alone = stepping.first.alone;
  result.first_renews = stepping.first_renews;
  result.step = sequence_of(stepping.sweeps);
  if (result.step.sweeps.empty()) {
    kernel::SiteLoop& scalars = result.step.sweeps.emplace_back();
    scalars.kernel = scalar_kernel(system, "step", {});
    scalars.before = stepping.sweeps.alone;
    result.step.swaps.emplace_back();
  }
  result.step.sweeps.front().kernel.comment = fmt::format("{}", fmt::join(result.remarks, "\n"));
  result.step.finish = new_scalars(system, stepping, slots);
  keep_count(system, stepping, result.step.finish);
  return result;
}

}  // namespace vphi::schedule
