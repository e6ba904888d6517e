// Everything that a program launches, as sequences of loops: what the stages of a schedule have
// made, before and behind the passes over kernels.
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

/// Places in System::solves that outputs and promises read, in the order of the launches.
std::vector<std::size_t> wanted_solves(const Outputs& outputs, const Watch& watch);

class ReadyParts {
 public:
  Parts take() && { return std::move(parts_); }

 private:
  explicit ReadyParts(Parts parts) : parts_(std::move(parts)) {}
  friend std::optional<ReadyParts> with_passes(Parts, Slots&, const std::string&,
                                               dsl::Diagnostics&);
  Parts parts_;
};

/// Runs the passes over all of them, or those up to `stop_after`; nothing where a kernel came out
/// unsound.
std::optional<ReadyParts> with_passes(Parts parts, Slots& slots, const std::string& stop_after,
                                      dsl::Diagnostics& diagnostics);

}  // namespace vphi::schedule
