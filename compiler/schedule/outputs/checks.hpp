// What every step ends with: the time, the averages over time, first passages, whether the run
// ends, and whether the conditions of outputs hold. All of it is judged on the synchronised state.
//
// In: the step. Out: the loops that run behind it, the slots that outputs and the program name, and
// the averages of each clause, which its outputs go on with. Nothing here can fail.
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
