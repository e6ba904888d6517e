// What the schedule makes of a system: kernels, and the program around them.
#pragma once

#include <string>
#include <vector>

#include "compiler/model/kernel.hpp"
#include "program/program.hpp"

namespace vphi::schedule {

/// A schedule in terms of kernels (IR), before any source text exists.
struct Plan {
  std::vector<kernel::Kernel> kernels;
  program::Program program;          ///< everything but kernels' source and launch shape
  std::vector<int> buffer_of;        ///< array number -> buffer
  std::vector<std::string> remarks;  ///< what was fused, which order was chosen and why
};

}  // namespace vphi::schedule
