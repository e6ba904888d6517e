// Kernels over the lattice of a system, without contents.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "compiler/model/kernel.hpp"
#include "compiler/model/system.hpp"
#include "compiler/schedule/tables.hpp"

namespace vphi::schedule {

/// A kernel with the lattice and the numerics of the system, without stores.
kernel::Kernel lattice_kernel(const physics::System& system, const std::string& name);

/// A kernel that only assigns scalars.
kernel::Kernel scalar_kernel(const physics::System& system, const std::string& name,
                             std::vector<kernel::ScalarAssign> epilogue);

/// Declares the arrays that a kernel reads and writes; `second`: written to the other copy.
void declare_arrays(kernel::Kernel& kernel, const std::set<int>& read, const std::set<int>& written,
                    const std::set<int>& second, const Storage& storage);
/// The same, derived from the complete stores and reductions of a kernel that stores in place.
void declare_arrays(kernel::Kernel& kernel, const Storage& storage);

/// Arrays that the kernel reads, by itself or through stencils.
std::set<int> arrays_read(const kernel::Kernel& kernel);

}  // namespace vphi::schedule
