// `limit x = expr` in a step (docs/rules.md rule 22).
//
// Limits are expressions of the state that has just been updated, applied in text order; the
// components of one see the state before it. They are written into the block behind the update, so
// they are part of its kernel where they read the site itself, and take a sweep of their own where
// they read neighbours or averages.
#pragma once

#include <vector>

#include "compiler/schedule/steps/flow.hpp"

namespace vphi::schedule {

/// Whether one of these arrays has a limit.
bool limited(const physics::System& system, const std::vector<int>& arrays);

/// The limits of conserved quantities, all of them.
void apply_limits(Block& block, State& state);

/// Those of arrays that have been moved for `length`, a scalar that is 0 where nothing moves any
/// more: then nothing changes. Conserved quantities have theirs at other places of a step
/// (flux.hpp).
void limit_updated(Block& block, State& state, const std::vector<int>& arrays, Expr length);

}  // namespace vphi::schedule
