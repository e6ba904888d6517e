// What steps of flows and steps of a body share: how long dt is, and what stands at their end.
#pragma once

#include "compiler/schedule/steps/step.hpp"

namespace vphi::schedule {

/// dt as long as the run goes on, then 0: later steps change nothing.
Expr running_dt(const physics::System& system);

/// Angles back to [0, period): x - period*floor(x/period). Where somebody asks for displacements
/// the turns are counted (physics::winding_of).
void fold_angles(Block& block, State& state);

/// Arrays that have moved, and the slots that their scalars move to.
Wanted wanted_state(const physics::System& system, const State& state);
std::vector<kernel::ScalarAssign> finish_of(const State& state);

/// Averages of the state at the start, made of the state at the end for the next step: where the
/// kick needs what only a whole sweep can tell, the sweep of the drift before it does.
std::vector<Item> carry(const Ingredients& from, Block& block, const State& end, Wanted& wanted,
                        Stepping& result);
/// The same before the first step.
void first_carried(Block& before, const State& start, const std::vector<Item>& carried,
                   Wanted& wanted);
void start_carried(const Ingredients& from, const std::vector<Item>& carried, Slots& slots,
                   Storage& storage, Stepping& result);

}  // namespace vphi::schedule
