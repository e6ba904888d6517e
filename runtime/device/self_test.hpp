// A small kernel that every device must run correctly before it is used for a model.
//
// y <- a x + y on a lattice, a from the scalar block, and the sum of y back into it: it uses every
// kind of program::Argument, the local memory, the fixed-order reduction by the last block, a
// recording, copies at offsets and the timer, and compares with numbers known exactly.
#pragma once

#include <string>

#include "program/program.hpp"
#include "runtime/device/device.hpp"

namespace vphi::runtime {

struct SelfTestResult {
  bool ok = false;
  std::string message;  ///< what went wrong, one sentence; "ok" otherwise
  std::string log;      ///< driver or compiler log where there is one
  KernelReport kernel;
};

/// The kernel of the test in the dialect of a target (its source also tests compilers alone).
program::Kernel self_test_kernel(program::Target target);
/// Never throws: a failure is a result.
SelfTestResult self_test(Device& device);

}  // namespace vphi::runtime
