// Allocates the memory of a system: its state, its matrices, the random or file arrays of the
// start, and the slots that every program has.
//
// In: a system. Out: the tables that later stages add to, and the descriptions of the state and of
// the random arrays for the program. Nothing here can fail.
#pragma once

#include <vector>

#include "compiler/model/system.hpp"
#include "compiler/schedule/tables.hpp"
#include "dsl/resolve.hpp"

namespace vphi::schedule {

struct Layout {
  Tables tables;
  std::vector<program::StateVariable> state;
  std::vector<program::RandomField> random;
};

Layout allocate(const physics::System& system, const dsl::Resolved& resolved);

/// Allocates memory for the solutions of linear systems, and slots for their numbers of iterations
/// and residuals, so that outputs and expectations can read them.
class SolutionMemory {
 public:
  SolutionMemory(const physics::System& system, Tables& tables);
};

}  // namespace vphi::schedule
