// Pattern: one thread a site, any dimension, extent and boundary.
#pragma once

#include "compiler/emit/frame.hpp"

namespace vphi::emit {

program::Kernel emit_sites(const Job& job, const Bindings& bindings);
/// A kernel without stores and reductions.
program::Kernel emit_epilogue_gpu(const Job& job, const Bindings& bindings);

}  // namespace vphi::emit
