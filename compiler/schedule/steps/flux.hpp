// Conservation laws in a step: recovered values, limits, and flux schemes that are steps.
//
// A scheme that is a right side is evaluated inside the integrator's body (`with_fluxes`). A scheme
// that is a step treats one axis after the other: recovery, the lines of the text over half the
// step, limits, recovery, the lines over the whole step from the old state with the recovered
// values at half of it, limits. All of this is added to a block as per-site values. Costly values
// that are read at several places are stored (`keep`), the others are computed where they are read.
// Nothing here fails.
#pragma once

#include <functional>
#include <optional>

#include "compiler/schedule/steps/kept_recoveries.hpp"
#include "compiler/schedule/steps/step.hpp"

namespace vphi::schedule {

/// Adds the recovered values to the state; they are computed only where they are read.
void add_recovered(Block& block, State& state);

/// Applies the limits at the end of a step of an integrator. Returns the update of the scalar that
/// counts changed values, where the model uses it.
/// `last`: recovered values of the last stage; those that the last limit has read after the call.
std::optional<kernel::ScalarAssign> keep_limits(Block& block, State& state, Wanted& wanted,
                                                std::optional<Recovered>& last);

/// Applies limits to the state, and adds recovered values and the lines of a scheme that is a right
/// side. The returned function must be applied to expressions of that state; it handles reflecting
/// walls. `recoveries`: those of this evaluation after the call.
std::function<Expr(Expr)> with_fluxes(Block& block, State& state, Recoveries& recoveries);

/// The step of a scheme that is a step. Its parts run in the order given by `cycle`, then `sweeps`,
/// which has no arrays.
Stepping make_flux_step(const physics::System& system, Slots& slots, Storage& storage);

}  // namespace vphi::schedule
