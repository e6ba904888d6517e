// The state before the first step: arrays from their initial expressions, scalars from numbers or
// from averages over these arrays.
#pragma once

#include "compiler/schedule/pipeline.hpp"
#include "compiler/schedule/steps/site_loops.hpp"
#include "compiler/schedule/steps/step.hpp"

namespace vphi::schedule {

/// Loops of a start, and the maps in Fourier space or the linear system after them.
struct StartPart {
  LoopSequence chain;
  std::vector<kernel::ScalarAssign> alone;
  std::vector<ArrayMap> maps = {};
  int solve = -1;  ///< place in System::solves; -1: none
};

/// The loops of the initial state. A scalar whose initial value is a number has it in its slot.
struct Initial {
  std::vector<StartPart> before;  ///< run before `chain`, one after the other
  LoopSequence chain;
  std::vector<kernel::ScalarAssign> alone;
};
/// Whether a kernel of the start draws random numbers, as for random links of a group.
bool kernels_of_start_draw(const physics::System& system);
Initial initial_state(const physics::System& system, Slots& slots, Storage& storage);

}  // namespace vphi::schedule
