// Recovered values that stay in memory from the end of a step to the start of the next.
//
// A step evaluates its equations first at the state that the step before has left. The last sweep
// of that step has this state in registers and recovers it there, from what the last stage has
// recovered: no sweep has to read the state for it, and iterations are nearly done when they start.
// Sweeps before the first step do the same for the initial values, after the limits. The values
// belong to checkpoints, since what an iteration finds depends on its start within its tolerance.
#pragma once

#include <optional>

#include "compiler/schedule/steps/limits.hpp"
#include "compiler/schedule/steps/step.hpp"

namespace vphi::schedule {

/// What the evaluations of a step know of recovered values.
struct Recoveries {
  std::optional<Recovered> last;  ///< of the evaluation before, from which iterations start
  bool kept = false;              ///< memory has those of the state at the start of the step
  bool at_start = false;          ///< an evaluation is at that state
  int cold = 0;                   ///< Stepping::cold
};

/// Whether the sweep that ends a step can recover its state: recovered values and limits read the
/// site itself, and no scalar but time.
bool can_keep_recovered(const physics::System& system);

/// Whether this is the state at the start of a step, as it is in memory.
bool is_stored(const physics::System& system, const State& state);

/// Adds the recovered values in memory to the state at the start of a step.
void add_kept(const physics::System& system, State& state);

/// Recovers the state at the end of a step, after its limits, for those values that the block reads
/// at its start. `last`: from which iterations start.
void keep_recovered(Block& block, const std::optional<Recovered>& last, State& end, Wanted& wanted);

/// The same before the first step: limits and recovers the initial values.
void first_recovered(Block& before, const Wanted& step, State& start, Wanted& wanted);

}  // namespace vphi::schedule
