// Functions common to steps of flows and steps of a body: the length of dt, and the end of a step.
#pragma once

#include "compiler/schedule/steps/step.hpp"

namespace vphi::schedule {

/// dt before the end of the run and 0 after it, so that later steps change nothing.
Expr running_dt(const physics::System& system);

/// Brings angles back to [0, period): x - period*floor(x/period). Where displacements are used,
/// winding numbers are updated (physics::winding_of).
void fold_angles(Block& block, State& state);

/// The arrays that have changed, and the slots with the new values of scalars.
Wanted wanted_state(const physics::System& system, const State& state);
std::vector<kernel::ScalarAssign> finish_of(const State& state);

/// Computes the averages over the state that the next step needs at its start. A kick that needs an
/// average would take a sweep before it; here the last sweep of the step before computes it.
std::vector<Item> carry(const Ingredients& from, Block& block, const State& end, Wanted& wanted,
                        Stepping& result);
/// The same averages before the first step.
void first_carried(Block& before, const State& start, const std::vector<Item>& carried,
                   Wanted& wanted);
void start_carried(const Ingredients& from, const std::vector<Item>& carried, Slots& slots,
                   Storage& storage, Stepping& result);

}  // namespace vphi::schedule
