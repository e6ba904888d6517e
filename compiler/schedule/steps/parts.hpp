// Kernels of steps whose computation is longer than the caches of instructions of a GPU hold, as
// several kernels.
//
// The parts (compiler/kernel/parts.hpp) hand numbers on through memory. All kernels that are cut
// use the same memory, because a part reads what the one before has written. On processors a
// kernel stays whole: handing numbers on takes longer there than reading instructions.
#pragma once

#include "compiler/model/plan.hpp"

namespace vphi::schedule {

/// Cuts the long kernels of steps; a remark names them. The last part keeps the number of the
/// kernel, its name and what runs at its end.
void cut_long_kernels(Plan& plan);

}  // namespace vphi::schedule
