// Kinds of arguments of kernels, for a session.
#pragma once

#include "program/program.hpp"

namespace vphi::runtime {

/// Whether the argument is a copy of a buffer, not scalars or work memory.
inline bool is_array(const program::Argument& a) {
  return a.kind == program::Argument::Kind::Current || a.kind == program::Argument::Kind::Next;
}

}  // namespace vphi::runtime
