// The pattern `lines` on processors, in C++ and in OpenCL: see lines.hpp.
#pragma once

#include "compiler/emit/walks/lines.hpp"

namespace vphi::emit {

program::Kernel emit_lines_rows(const Job& job, const kernel::Line& line, const Bindings& bindings);

}  // namespace vphi::emit
