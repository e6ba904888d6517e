// Separates from a kernel the values that are the same in many instances of one site.
//
// Time, the number of the step and whatever depends on them alone (a drive cos(omega t), the weight
// 1/n of a running mean) is the same in every path of an ensemble. `share` divides a kernel into
// two parts. The clock advances the common slots by a step and stores the values that depend on
// them; the rest of the kernel reads these values as symbols. The pattern for instances of a single
// site (emit/patterns/single_site.hpp) runs the clock once for a whole group of instances. Pure
// function; it keeps the order of operations of every value.
#pragma once

#include <string>
#include <vector>

#include "compiler/kernel/kernel.hpp"

namespace vphi::kernel {

struct Shared {
  Kernel own;  ///< the kernel without the common slots
  /// One step of the clock, in order: common slots and values to store.
  std::vector<ScalarAssign> clock;
  /// Names of the clock's values that stores and reductions read.
  std::vector<std::string> site;
  /// Names of the clock's values that the epilogue reads, in f64.
  std::vector<std::string> epilogue;
  std::vector<std::string> slots;  ///< common slots that the clock reads or advances
};

/// Divides a kernel whose `common` is not empty.
Shared share(const Kernel& kernel);

}  // namespace vphi::kernel
