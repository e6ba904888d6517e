// The end of every step: time, averages over time, first passages, the end of the run, and the
// conditions of outputs. All are evaluated on the synchronised state.
//
// In: the step. Out: the loops that run after it, the slots that outputs and the program read, and
// the averages of each clause. Nothing here can fail.
#pragma once

#include <map>
#include <vector>

#include "compiler/schedule/outputs/averages.hpp"

namespace vphi::schedule {

struct Checks {
  Observer::Result loops;
  int time_slot = -1;
  std::map<const algebra::Node*, int> after;  ///< condition of a clause -> its slot
  std::vector<Averages> of_clauses;           ///< of each output clause
  Averages of_promises;
};

Checks make_checks(const physics::System& system, const Stepping& stepping, Tables& tables);

}  // namespace vphi::schedule
