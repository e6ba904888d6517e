// Pattern: sums over pairs of sites, out_k[i] = sum_j f_k(x_i, x_j).
//
// Values that depend on one site of the pair only are computed once for this site, in the precision
// of the fields, and rounded to that of the pairs. The "near" values, of i, stay in registers; the
// "far" values, of a tile of sites j, are in local memory. A thread holds several i, adds the terms
// of a tile in the precision of the pairs and the tiles in f64 (a conversion for each pair would be
// the bottleneck). On GPUs the tiles of each block of i are divided among several groups, so that
// small systems fill the device too. The last group of a block adds the partial sums in a fixed
// order.
#pragma once

#include "compiler/emit/text/frame.hpp"

namespace vphi::emit {

/// The computation for a pair of sites, with the values of both sites as reads.
kernel::Kernel pair_kernel(const kernel::Kernel& kernel, const TargetInfo& target);

program::Kernel emit_pairs(const kernel::Kernel& kernel, const TargetInfo& target,
                           const Bindings& bindings);
/// The kernel as part of a launch of many steps, in which one group has all sites of an instance.
Stage pairs_stage(const kernel::Kernel& kernel, const TargetInfo& target, const Bindings& bindings);

}  // namespace vphi::emit
