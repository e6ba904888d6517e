// Pattern: one thread a site, for any dimension, extent and boundary.
#pragma once

#include "compiler/emit/patterns/own_sites.hpp"
#include "compiler/emit/text/frame.hpp"

namespace vphi::emit {

program::Kernel emit_sites(const Job& job, const Bindings& bindings);
/// The kernel as part of a launch of many steps; also for kernels without stores and reductions.
Stage sites_stage(const Job& job, const Bindings& bindings, const OwnSites& own);
/// Number of groups that run at the same time, with the number of threads of persistent.hpp.
std::int64_t wave_groups(const TargetInfo& target);
/// Of `groups` for the whole lattice those of a rank: each slab has as many.
std::int64_t groups_of_rank(const kernel::Kernel& kernel, std::int64_t groups);
/// A kernel without stores and reductions.
program::Kernel emit_epilogue_gpu(const Job& job, const Bindings& bindings);

/// The source of a kernel of one group that adds the `shares` of all ranks and computes the
/// scalars, on a GPU; `job`: the kernel without its stores (emit_end).
Code sites_end_text(const Job& job, std::int64_t shares, int threads);

}  // namespace vphi::emit
