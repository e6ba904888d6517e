// Output clauses: loops over a copy of the state for each cadence, and what is written of them.
//
// In: the step, the checks behind it, and the memory of solutions. Clauses of one cadence (every so
// many steps, so much time, under one condition) share their loops; arrays that find no room at
// once are outputs of their own, behind the clauses. Out: the outputs as the program has them, but
// for launches. What fails: a value that needs averages and the state at once.
#pragma once

#include <vector>

#include "compiler/schedule/layout.hpp"
#include "compiler/schedule/outputs/checks.hpp"
#include "dsl/messages/diagnostic.hpp"

namespace vphi::schedule {

/// Scalar kernels of a clause that has averages.
struct AverageScalars {
  std::vector<kernel::ScalarAssign> before;  ///< its launches
  std::vector<kernel::ScalarAssign> after;   ///< the runtime's averages
};

struct Outputs {
  /// Clauses of one cadence.
  struct Cadence {
    Observer::Result loops;
    std::size_t first = 0;            ///< place in `written` of the clause that has the launches
    std::vector<std::size_t> stages;  ///< places of those of each stage of `loops`
  };
  std::vector<program::Output> written;  ///< clauses in text order, then later stages
  std::vector<AverageScalars> averages;  ///< of each clause
  std::vector<Cadence> cadences;
};

Outputs make_outputs(const physics::System& system, const Stepping& stepping, const Checks& checks,
                     const SolutionMemory& solutions, Tables& tables,
                     dsl::Diagnostics& diagnostics);

}  // namespace vphi::schedule
