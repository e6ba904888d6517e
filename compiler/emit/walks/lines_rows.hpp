// The pattern `lines` on processors, in C++ and in OpenCL: see lines.hpp.
#pragma once

#include <cstdint>

#include "compiler/emit/walks/lines.hpp"

namespace vphi::emit {

/// Bytes that the lanes of a walk hold together on a processor: vectors of 512 bits.
constexpr std::int64_t kLaneBytes = 64;

/// Everything copied by `tasks` where nothing is to change; then `copies` is not 0.
Code still_copies(const Job& job, const kernel::Line& line, const Bindings& bindings,
                  std::int64_t tasks);

program::Kernel emit_lines_rows(const Job& job, const kernel::Line& line, const Bindings& bindings);

}  // namespace vphi::emit
