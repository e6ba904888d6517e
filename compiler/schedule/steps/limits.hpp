// `limit x = expr` in a step (docs/rules.md rule 22).
//
// Limits are functions of the updated state and are applied in text order; all components of a
// limit are computed from the state before it. They are added to the block after the update. A
// limit that reads only the site itself is part of the kernel of the update; one that reads
// neighbours or averages takes a sweep of its own.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "compiler/schedule/steps/flow.hpp"

namespace vphi::schedule {

/// Whether one of these arrays has a limit.
bool limited(const physics::System& system, const std::vector<int>& arrays);

/// Applies all limits of conserved quantities. Returns the state of the last limit with the
/// recovered values that it read, for `recover`; nothing where it read none.
std::optional<State> apply_limits(Block& block, State& state);

/// Sets the recovered values of a state. `last`: what was recovered before limits by recovered
/// values changed the state, from which iterations start. `made`: a value where names have the
/// values of `from`.
void recover(const physics::System& system, const std::optional<State>& last, State& state,
             const std::function<Expr(const physics::Derived&, const State& from)>& made);

/// Applies the limits of arrays that a flow of `length` has updated. `length` is a scalar that is 0
/// after the end of the run; then nothing changes. Limits of conserved quantities are applied in
/// flux.hpp.
void limit_updated(Block& block, State& state, const std::vector<int>& arrays, Expr length);

}  // namespace vphi::schedule
