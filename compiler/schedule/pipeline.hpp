// The passes over kernels, in one visible list, and the linking of sweeps into launches.
//
// Each pass is a pure function of one sweep (compiler/kernel/passes.hpp); the verifier runs after
// each. `vphi emit --after NAME` stops behind the one of that name; `schedule` stands for the state
// before the first of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/kernel/passes.hpp"
#include "compiler/schedule/tables.hpp"
#include "dsl/messages/diagnostic.hpp"

namespace vphi::schedule {

struct Pass {
  const char* name;
  kernel::SiteLoop (*run)(kernel::SiteLoop, const kernel::FreshName&);
};

/// In the order in which they run.
const std::vector<Pass>& passes();
std::vector<std::string> pass_names();

/// Sweeps that run one after the other.
struct LoopSequence {
  std::vector<kernel::SiteLoop> sweeps;
  std::vector<std::vector<int>> swaps;       ///< arrays exchanged after each sweep
  std::vector<kernel::ScalarAssign> finish;  ///< in the epilogue of the last one
};

/// Runs the passes over every sweep of the chains; false where a kernel came out unsound.
bool run_passes(std::vector<LoopSequence*> chains, Slots& slots, const std::string& stop_after,
                dsl::Diagnostics& diagnostics);

/// Scalars that a sweep needs go to the end of the epilogue before it; what the first one needs is
/// returned, for the caller to put before the chain.
std::vector<kernel::ScalarAssign> link(LoopSequence& chain);

}  // namespace vphi::schedule
