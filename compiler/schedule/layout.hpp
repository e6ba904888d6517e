// Memory of a system before anything runs: its state, its matrices, what the host draws or reads
// for the start, and the slots that every program has.
//
// In: a system. Out: the tables that all later stages add to, and how the state and the drawn
// arrays are described in the program. Nothing here can fail.
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

/// Linear systems whose solutions have memory, and whose counts have slots: what looks at the state
/// may name them.
class SolutionMemory {
 public:
  SolutionMemory(const physics::System& system, Tables& tables);
};

}  // namespace vphi::schedule
