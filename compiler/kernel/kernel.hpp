// Cost and verification of kernels (compiler/model/kernel.hpp).
#pragma once

#include <string>
#include <vector>

#include "compiler/model/kernel.hpp"

namespace vphi::kernel {

/// Cost of one site, or of one pair where the kernel sums over pairs. It is counted on the
/// expressions; the audit compares it with the emitted code.
/// Operations that wait for each other (kernel/chain.hpp).
struct Chain {
  int instructions = 0, special = 0;
};

struct Cost {
  int loads = 0, stores = 0;  ///< numbers moved from and to memory, each array once per site
  int bytes = 0;
  int flops = 0, special = 0;
  /// `flops`, with a multiplication and the addition of its product counted as one.
  int instructions = 0;
  Chain chain;  ///< the longest one of a site; of a launch of many steps, of a step
};
Cost cost(const Kernel& kernel);

/// Structural errors of a kernel, one sentence each: unknown array, per-site value in the epilogue,
/// unknown slot, a store without `next` to an array that is read at other sites, a canonical
/// operation after ordering. Empty where there are none.
std::vector<std::string> verify(const Kernel& kernel, const std::vector<std::string>& slots);

}  // namespace vphi::kernel
