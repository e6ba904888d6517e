// Output clauses: the loops for each cadence, and the outputs that they fill.
//
// In: the step, the checks after it, and the memory of solutions. Clauses of one cadence (the same
// number of steps, or time, and condition) share their loops. Arrays for which memory does not
// suffice at once become outputs of their own after the clauses. Out: the outputs of the program
// without their launches. Refused here: a value that needs averages and the state.
#pragma once

#include <vector>

#include "compiler/schedule/layout.hpp"
#include "compiler/schedule/outputs/checks.hpp"
#include "dsl/messages/diagnostic.hpp"

namespace vphi::schedule {

/// Scalar assignments of a clause with averages.
struct AverageScalars {
  std::vector<kernel::ScalarAssign> before;  ///< before its launches
  std::vector<kernel::ScalarAssign> after;   ///< after the averages of the runtime
};

struct Outputs {
  /// Clauses of one cadence.
  struct Cadence {
    Observer::Result loops;
    std::size_t first = 0;  ///< index in `written` of the clause with the launches
    /// Indices in `written` of the outputs of each further stage of `loops`.
    std::vector<std::size_t> stages;
  };
  std::vector<program::Output> written;  ///< clauses in text order, then later stages
  std::vector<AverageScalars> averages;  ///< for each clause
  std::vector<Cadence> cadences;
};

Outputs make_outputs(const physics::System& system, const Stepping& stepping, const Checks& checks,
                     const SolutionMemory& solutions, Tables& tables,
                     dsl::Diagnostics& diagnostics);

}  // namespace vphi::schedule
