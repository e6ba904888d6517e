// Everything that a program launches, as sequences of loops: the results of the stages of a
// schedule, before and after the passes over kernels.
//
// `ReadyParts` has been through the passes; only that is assembled
// (compiler/schedule/assemble.hpp).
#pragma once

#include <optional>
#include <string>

#include "compiler/schedule/outputs/initial.hpp"
#include "compiler/schedule/outputs/watch.hpp"
#include "compiler/schedule/solver/solves.hpp"
#include "compiler/schedule/steps/step_loops.hpp"

namespace vphi::schedule {

struct Parts {
  StepLoops step;
  LoopSequence recentring;  ///< between steps (steps/recentring.hpp)
  Initial initial;
  Checks checks;
  Outputs outputs;
  Watch watch;
  Solves solves;
};

/// How the systems are solved that the start, the step, outputs and expectations need.
std::optional<ColumnPlan> columns_of(const physics::System& system, const Initial& initial,
                                     const StepLoops& step, const Outputs& outputs,
                                     const Watch& watch, int registers,
                                     dsl::Diagnostics& diagnostics);

class ReadyParts {
 public:
  Parts take() && { return std::move(parts_); }

 private:
  explicit ReadyParts(Parts parts) : parts_(std::move(parts)) {}
  friend std::optional<ReadyParts> with_passes(Parts, Slots&, const std::string&,
                                               dsl::Diagnostics&);
  Parts parts_;
};

/// Runs the passes, or those up to `stop_after`, over all parts; nothing where the verifier finds
/// an error.
std::optional<ReadyParts> with_passes(Parts parts, Slots& slots, const std::string& stop_after,
                                      dsl::Diagnostics& diagnostics);

}  // namespace vphi::schedule
