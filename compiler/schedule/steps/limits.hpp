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

/// The value with the state's in place of its reads, with the order of operations that stays.
Expr in_order(const State& state, Expr value);

/// A state close by with its recovered values, from which iterations start: that before the last
/// limit, or that of an earlier stage of the step.
struct Recovered {
  State state;
  Expr kept;  ///< whether the state has not changed since then at the site; null: it has
};

/// Applies all limits of conserved quantities. Returns the recovered values that the last limit
/// read, for `recover`; `last` where it read none.
std::optional<Recovered> apply_limits(Block& block, State& state,
                                      const std::optional<Recovered>& last = {});

/// Defines the values that limits have made of a state, as later ones of their arrays.
void define_limited(Block& block, State& state);

/// A value where names have the values of `from`, after `chosen`.
using MakeRecovered = std::function<Expr(const physics::Derived& value, const State& from,
                                         const std::function<Expr(Expr)>& chosen)>;

/// Sets the recovered values of a state. Iterations start from `last`, which stays where the state
/// has not changed.
void recover(const physics::System& system, const std::optional<Recovered>& last, State& state,
             const MakeRecovered& made);

/// Applies the limits of arrays that a flow of `length` has updated. `length` is a scalar that is 0
/// after the end of the run; then nothing changes. Limits of conserved quantities are applied in
/// flux.hpp.
void limit_updated(Block& block, State& state, const std::vector<int>& arrays, Expr length);

}  // namespace vphi::schedule
