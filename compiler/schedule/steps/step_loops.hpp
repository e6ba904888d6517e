// The step as sequences of loops, with the book that every step keeps: its number, its stages,
// whether it ran.
//
// In: the step that was chosen. Out: what runs once before the first step, the parts of a flux
// scheme, and the rest of the step, with the scalar assignments that end it.
#pragma once

#include "compiler/schedule/pipeline.hpp"
#include "compiler/schedule/steps/step.hpp"

namespace vphi::schedule {

struct StepLoops {
  LoopSequence first;                             ///< before the first step
  std::vector<kernel::ScalarAssign> first_alone;  ///< before `first`
  std::vector<LoopSequence> parts;                ///< before `step`, of a flux scheme
  std::vector<std::vector<int>> cycle;            ///< places in `parts`, of successive steps
  LoopSequence step;                              ///< one stage
  int stages = 1;
  std::vector<std::string> remarks;
};

StepLoops step_loops(const physics::System& system, const Stepping& stepping, Slots& slots);

}  // namespace vphi::schedule
