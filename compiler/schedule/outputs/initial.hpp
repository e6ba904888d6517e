// The state before the first step: arrays from their initial expressions, scalars from numbers or
// from averages over these arrays.
#pragma once

#include "compiler/schedule/pipeline.hpp"
#include "compiler/schedule/steps/site_loops.hpp"

namespace vphi::schedule {

/// Scalars whose initial value is a number get it in their slot; the rest is the chain's.
struct Initial {
  LoopSequence chain;
  std::vector<kernel::ScalarAssign> alone;
};
/// Whether a kernel of the start draws numbers itself, as for links from the whole group.
bool kernels_of_start_draw(const physics::System& system);
Initial initial_state(const physics::System& system, Slots& slots, Storage& storage);

}  // namespace vphi::schedule
