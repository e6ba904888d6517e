// What can be asked of any kernel (compiler/model/kernel.hpp): what it costs, and whether it is
// sound.
#pragma once

#include <string>
#include <vector>

#include "compiler/model/kernel.hpp"

namespace vphi::kernel {

/// What one site costs (one pair, where the kernel sums over pairs); counted on the expressions,
/// compared with the emitted code by the audit.
struct Cost {
  int loads = 0, stores = 0;  ///< words moved to and from memory, each array once a site
  int bytes = 0;
  int flops = 0, special = 0;
  int instructions = 0;  ///< `flops` with a multiplication and the addition that takes it as one
};
Cost cost(const Kernel& kernel);

/// Structural errors: unknown array, per-site value in the epilogue, unknown slot, a store to an
/// array read elsewhere without `next`, a canonical op after ordering. Empty when sound.
std::vector<std::string> verify(const Kernel& kernel, const std::vector<std::string>& slots);

}  // namespace vphi::kernel
