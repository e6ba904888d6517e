// Arguments of kernels as a session sees them.
#pragma once

#include "program/program.hpp"

namespace vphi::runtime {

/// A copy of a buffer, and not scalars or work memory.
inline bool is_array(const program::Argument& a) {
  return a.kind == program::Argument::Kind::Current || a.kind == program::Argument::Kind::Next;
}

}  // namespace vphi::runtime
