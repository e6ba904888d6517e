// Pattern: the sites of one colour, updated in place. The site follows from (colour, number) by
// arithmetic, without a table. The colour is a scalar, so that one kernel serves all colours.
//
// On a processor tasks are rows of cells along x, vectorised inside; on a GPU each cell has a
// thread.
#pragma once

#include "compiler/emit/text/frame.hpp"

namespace vphi::emit {

/// On GPUs `instructions` of the result are those of a site for its place, its reads and its
/// stores.
program::Kernel emit_colours(const Job& job, const Bindings& bindings);

/// Number of groups, at most `most`, for the work of `wanted` groups in shares that are as equal as
/// possible; a group takes its pieces one after the other.
std::int64_t even_shares(std::int64_t wanted, std::int64_t most);
/// Declarations of the local memory in which a group adds its sums; empty without sums.
Code sum_memory(const GpuReductions& reductions);

}  // namespace vphi::emit
