// Conservation laws in a step: recovered values, limits, and flux schemes that are steps.
//
// A scheme that is a right side is evaluated inside the integrator's body (`with_fluxes`). One that
// is a step runs one axis after the other: recover, the lines of the text over half the step,
// limits, recover again, and the lines over the whole step from the old state with the recovered
// values of the half; then limits. Everything is written into a block as values of a site. Values
// that are read at several places and costly are kept in memory (`keep`), the others are computed
// where they are read. Nothing here fails.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "compiler/schedule/steps/step.hpp"

namespace vphi::schedule {

/// The state with the values that are recovered from it; made only where they are read.
void add_recovered(Block& block, State& state);

/// The limits of the state at the end of a step of an integrator; where the model asks for it, how
/// the scalar that counts what limits change moves on.
std::optional<kernel::ScalarAssign> keep_limits(Block& block, State& state, Wanted& wanted);

/// The limited state, with recovered values and the lines of a scheme that is a right
/// side. Expressions of that state go through the function that is returned: it handles
/// reflecting walls.
std::function<Expr(Expr)> with_fluxes(Block& block, State& state);

/// The step of a scheme that is one. Its parts run in the order of `cycle` of the step, then
/// `sweeps`, which has no array.
Stepping make_flux_step(const physics::System& system, Slots& slots, Storage& storage);

}  // namespace vphi::schedule
