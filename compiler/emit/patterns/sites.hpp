// Pattern: one thread a site, any dimension, extent and boundary.
#pragma once

#include "compiler/emit/text/frame.hpp"

namespace vphi::emit {

program::Kernel emit_sites(const Job& job, const Bindings& bindings);
/// Its part in a launch of many steps, and that of a kernel without stores and reductions.
Stage sites_stage(const Job& job, const Bindings& bindings);
/// Groups that are sure to run at the same time, with as many threads as persistent.hpp gives them.
std::int64_t wave_groups(const TargetInfo& target);
/// A kernel without stores and reductions.
program::Kernel emit_epilogue_gpu(const Job& job, const Bindings& bindings);

}  // namespace vphi::emit
