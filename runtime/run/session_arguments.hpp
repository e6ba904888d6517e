// Kinds of arguments of kernels, for a session.
#pragma once

#include "program/program.hpp"

namespace vphi::runtime {

/// Whether the argument needs a copy of a buffer, not scalars or work memory alone.
inline bool is_array(const program::Argument& a) {
  using Kind = program::Argument::Kind;
  return a.kind == Kind::Current || a.kind == Kind::Next || a.kind == Kind::Whole;
}

}  // namespace vphi::runtime
