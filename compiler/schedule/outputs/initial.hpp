// The state before the first step: arrays from their initial expressions, scalars from numbers or
// from averages over these arrays.
#pragma once

#include "compiler/schedule/pipeline.hpp"
#include "compiler/schedule/steps/site_loops.hpp"

namespace vphi::schedule {

/// The loops of the initial state. A scalar whose initial value is a number has it in its slot.
struct Initial {
  LoopSequence chain;
  std::vector<kernel::ScalarAssign> alone;
};
/// Whether a kernel of the start draws random numbers, as for random links of a group.
bool kernels_of_start_draw(const physics::System& system);
Initial initial_state(const physics::System& system, Slots& slots, Storage& storage);

}  // namespace vphi::schedule
