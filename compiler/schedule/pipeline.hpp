// The passes over kernels, in one visible list.
//
// Each pass is a pure function of one sweep (compiler/kernel/passes.hpp); the verifier runs after
// each. `vphi emit --after NAME` stops after the one of that name; `schedule` stands for the state
// before the first of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/kernel/passes.hpp"
#include "compiler/schedule/steps/site_loops.hpp"
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

LoopSequence sequence_of(SiteLoops loops, std::vector<kernel::ScalarAssign> finish = {});

/// Runs the passes over every sweep of the chains, and fixes the order of operations in `alone`,
/// scalars of no sweep; false where a kernel came out unsound.
bool run_passes(const std::vector<LoopSequence*>& chains,
                const std::vector<std::vector<kernel::ScalarAssign>*>& alone, Slots& slots,
                const std::string& stop_after, dsl::Diagnostics& diagnostics);

}  // namespace vphi::schedule
