// The pattern of sums over pairs of sites: out_k[i] = sum_j f_k(x_i, x_j).
//
// What depends on one site of the pair alone is computed once for it, in the precision of the
// fields, and rounded to that of the pairs: the "near" values of i stay in registers, the "far"
// values of a tile of sites j lie in fast memory. A thread holds several i, adds the terms of a
// tile in the precision of the pairs and the tiles in f64 (a conversion for each pair would be the
// bottleneck). On GPUs the tiles are shared out over several groups for each block of i, so that
// small systems fill the device too; the last group of a block adds the shares in their order.
#pragma once

#include "compiler/emit/text/frame.hpp"

namespace vphi::emit {

/// What a pair of sites does, with values of either site as reads.
kernel::Kernel pair_kernel(const kernel::Kernel& kernel, const TargetInfo& target);

program::Kernel emit_pairs(const kernel::Kernel& kernel, const TargetInfo& target,
                           const Bindings& bindings);
/// Its part in a launch of many steps, in which one group has all sites of an instance.
Stage pairs_stage(const kernel::Kernel& kernel, const TargetInfo& target, const Bindings& bindings);

}  // namespace vphi::emit
