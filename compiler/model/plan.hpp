// The result of the schedule: kernels, and the program around them.
#pragma once

#include <string>
#include <vector>

#include "compiler/model/kernel.hpp"
#include "program/program.hpp"

namespace vphi::schedule {

/// A schedule of kernels as expressions, before any source text exists.
struct Plan {
  std::vector<kernel::Kernel> kernels;
  program::Program program;          ///< everything but kernels' source and launch shape
  std::vector<int> buffer_of;        ///< array number -> buffer
  std::vector<std::string> remarks;  ///< what was fused, which order was chosen, and the reasons
};

}  // namespace vphi::schedule
