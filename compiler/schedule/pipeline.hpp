// The list of the passes over kernels.
//
// Each pass is a pure function of one SiteLoop (compiler/kernel/passes.hpp); the verifier runs
// after each. `vphi emit --after NAME` stops after the one of that name; `schedule` stands for the
// state before the first of them.
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

/// Loops over the sites that run one after the other.
struct LoopSequence {
  std::vector<kernel::SiteLoop> sweeps;
  std::vector<std::vector<int>> swaps;       ///< arrays exchanged after each sweep
  std::vector<kernel::ScalarAssign> finish;  ///< assignments in the epilogue of the last one
};

LoopSequence sequence_of(SiteLoops loops, std::vector<kernel::ScalarAssign> finish = {});

/// Runs the passes over every loop of the sequences, and fixes the order of operations in `alone`,
/// scalars outside of loops. False where the verifier finds an error.
bool run_passes(const std::vector<LoopSequence*>& chains,
                const std::vector<std::vector<kernel::ScalarAssign>*>& alone, Slots& slots,
                const std::string& stop_after, dsl::Diagnostics& diagnostics);

}  // namespace vphi::schedule
