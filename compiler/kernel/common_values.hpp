// Separates the values that many instances of one site have in common from their kernel.
//
// Time, the number of the step and whatever depends on them alone (a drive cos(omega t), the weight
// 1/n of a running mean) is the same in every path of an ensemble. `share` divides a kernel: a
// clock advances the common slots by a step and stores the values that paths need; in the rest
// these values are symbols. The pattern of paths (emit) runs the clock once for a whole group of
// instances. Pure; the order of operations of every value stays.
#pragma once

#include <string>
#include <vector>

#include "compiler/kernel/kernel.hpp"

namespace vphi::kernel {

struct Shared {
  Kernel own;                         ///< without the common slots
  std::vector<ScalarAssign> clock;    ///< one step, in order: common slots and noted values
  std::vector<std::string> site;      ///< names of the values that stores and reductions read
  std::vector<std::string> epilogue;  ///< of those that the epilogue reads, in f64
  std::vector<std::string> slots;     ///< common slots that the clock reads or moves
};

/// `kernel.common` is not empty.
Shared share(const Kernel& kernel);

}  // namespace vphi::kernel
