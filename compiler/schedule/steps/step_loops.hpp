// The step as sequences of loops, with the scalars of every step: its number, its stage, and
// whether it ran.
//
// In: the chosen step. Out: the loops that run once before the first step, the parts of a flux
// scheme, and the rest of the step with the assignments at its end.
#pragma once

#include "compiler/schedule/pipeline.hpp"
#include "compiler/schedule/steps/step.hpp"

namespace vphi::schedule {

/// A part of a step: loops and the maps after them, or the solve of a system (its index in
/// System::solves).
struct StepPart {
  LoopSequence loops;
  int solve = -1;
  std::vector<ArrayMap> maps = {};
  int leader = -1;  ///< FluxPart::leader
};

struct StepLoops {
  LoopSequence first;                             ///< run before the first step
  std::vector<kernel::ScalarAssign> first_alone;  ///< assigned before `first`
  bool first_renews = false;                      ///< Stepping::first_renews
  std::vector<StepPart> parts;                    ///< run before `step`
  /// For successive steps in turn: indices into `parts`.
  std::vector<std::vector<int>> cycle;
  bool in_order = false;  ///< Stepping::in_order
  LoopSequence step;      ///< one stage
  int stages = 1;
  std::vector<std::string> remarks;
};

/// A kernel that changes nothing, for maps that no other launch is before.
kernel::Kernel before_map(const physics::System& system);

StepLoops step_loops(const physics::System& system, const Stepping& stepping, Slots& slots);

}  // namespace vphi::schedule
