// The step of a Markov chain: a sweep of updates, each colour after colour and in place.
//
// Every update is one kernel over the sites of a colour (kernel::Colours) and runs once for each of
// its colours; the number of the colour is a scalar, which the kernel itself advances.
// Random numbers are those of the sweep's number. Nothing here can fail.
#pragma once

#include "compiler/schedule/steps/step.hpp"

namespace vphi::schedule {

Stepping make_markov_step(const physics::System& system, const physics::MarkovChain& chain,
                          Slots& slots, Storage& storage);

}  // namespace vphi::schedule
