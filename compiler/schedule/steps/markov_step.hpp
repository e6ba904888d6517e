// The step of a Markov chain: one sweep of updates. Each update goes through its colours, in place.
//
// Every update is one kernel over the sites of a colour (kernel::Colours) and runs once for each of
// its colours; the number of the colour is a scalar that the kernel itself advances. Random numbers
// are keyed by the number of the sweep. Nothing here can fail.
#pragma once

#include "compiler/schedule/steps/step.hpp"

namespace vphi::schedule {

/// The kernel of an update over the sites of one colour, in place. `colour`: the slot with its
/// number; instances whose slot `still` is not 0 stay as they are.
kernel::Kernel coloured_kernel(const physics::System& system, const physics::Update& update,
                               const std::string& colour, const std::string& still,
                               const Storage& storage);
/// The next colour of the update, around from the last to the first.
Expr next_colour(Expr colour, const physics::Update& update);

Stepping make_markov_step(const physics::System& system, const physics::MarkovChain& chain,
                          Slots& slots, Storage& storage);

}  // namespace vphi::schedule
