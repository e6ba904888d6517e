// The step of a flow of links: the text of an integrator, applied to a Lie group.
//
// Registers of the text are elements of the algebra, one real number for each generator of each
// link; `x + h*y` is exp(h*y)*x (docs/rules.md rule 19). A line that sets a register to a sum of
// rates and registers is one kernel for each axis, because rates read neighbours. A line that
// updates links is one kernel for each axis as well, because an exponential takes all registers of
// a GPU thread. A point of the text that is not x (`f(x + dt*k)`, `y = x + dt*k`) has memory of its
// own. No scheme is known by its name. Whether a text keeps its order on a group depends on the
// text (docs/gauge.md).
#pragma once

#include "compiler/schedule/steps/step.hpp"

namespace vphi::schedule {

/// Nothing, with an error in `diagnostics`, where the text does not fit.
std::optional<Stepping> make_link_flow_step(const physics::System& system,
                                            const physics::LinkFlow& flow, Slots& slots,
                                            Storage& storage, dsl::Diagnostics& diagnostics);

}  // namespace vphi::schedule
