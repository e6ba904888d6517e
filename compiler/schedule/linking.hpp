// Makes numbered kernels and launches from sequences of loops.
//
// Linking appends the scalars that a sweep needs to the epilogue that runs before it. A linked
// sequence consists of kernels; the caller places the scalars that the first of them needs. Only
// linked sequences become launches. Nothing here can fail.
#pragma once

#include <string>
#include <vector>

#include "compiler/model/system.hpp"
#include "compiler/schedule/pipeline.hpp"

namespace vphi::schedule {

using Assigns = std::vector<kernel::ScalarAssign>;
using Launches = std::vector<program::Launch>;

void append(Assigns& to, const Assigns& from);
void append(Launches& to, const Launches& from);

struct Linked {
  /// Scalars needed before the first kernel; without kernels, all assignments of the sequence.
  Assigns needs;
  std::vector<kernel::Kernel> kernels;
  std::vector<std::vector<int>> swaps;  ///< arrays exchanged after each kernel

  bool empty() const { return kernels.empty(); }
  /// The epilogue of the last kernel.
  Assigns& end() { return kernels.back().epilogue; }
};

Linked link(LoopSequence sequence);

/// The kernels of a plan in the order of their numbers.
class KernelList {
 public:
  KernelList(const physics::System& system, const Storage& storage)
      : system_(system), storage_(storage) {}

  int add(kernel::Kernel kernel);
  Launches add(Linked sequence);
  /// Adds a kernel that only assigns scalars; no launch where there is nothing to assign.
  Launches add_scalars(const std::string& name, Assigns assigns);

  const std::vector<kernel::Kernel>& kernels() const { return kernels_; }
  std::vector<kernel::Kernel> take() && { return std::move(kernels_); }

 private:
  const physics::System& system_;
  const Storage& storage_;
  std::vector<kernel::Kernel> kernels_;
};

}  // namespace vphi::schedule
