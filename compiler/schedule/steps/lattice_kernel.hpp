// A kernel over the lattice of a system, before anything is said of what it does.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "compiler/model/kernel.hpp"
#include "compiler/model/system.hpp"
#include "compiler/schedule/tables.hpp"

namespace vphi::schedule {

/// Its box and its numbers, without stores.
kernel::Kernel lattice_kernel(const physics::System& system, const std::string& name);

/// One that computes scalars alone.
kernel::Kernel scalar_kernel(const physics::System& system, const std::string& name,
                             std::vector<kernel::ScalarAssign> epilogue);

/// Declares what a kernel reads and writes; `second`: written to the other copy.
void declare_arrays(kernel::Kernel& kernel, const std::set<int>& read, const std::set<int>& written,
                    const std::set<int>& second, const Storage& storage);
/// The same for a kernel whose stores and reductions are complete; it stores in place.
void declare_arrays(kernel::Kernel& kernel, const Storage& storage);

}  // namespace vphi::schedule
