// Quantities that are watched during a run: expectations, the progress line, conservation laws that
// cannot be recovered, and the scale factor compared with the averages.
//
// In: the step, the checks after it, the memory of solutions. Out: loops over the synchronised
// state, and the entries of the program. Refused here: an expectation that needs averages and the
// state.
#pragma once

#include <vector>

#include "compiler/schedule/outputs/outputs.hpp"

namespace vphi::schedule {

struct Watch {
  Observer::Result loops;
  AverageScalars averages;
  std::vector<program::Statistic> statistics;
  std::vector<program::Expectation> expectations;
  std::vector<program::ScalarOutput> progress;
  int unsound_slot = -1;
  program::Expansion expansion;
};

Watch make_watch(const physics::System& system, const Stepping& stepping, const Checks& checks,
                 const SolutionMemory& solutions, Tables& tables, dsl::Diagnostics& diagnostics);

}  // namespace vphi::schedule
