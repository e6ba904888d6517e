// Pattern: the sites of one colour, in place. The site follows from (colour, number) by arithmetic,
// without a table; which colour is a number among the scalars, so that one kernel serves all.
//
// A processor goes through rows of cells along x, vectorised inside; a GPU takes one thread a cell.
#pragma once

#include "compiler/emit/text/frame.hpp"

namespace vphi::emit {

program::Kernel emit_colours(const Job& job, const Bindings& bindings);

/// Groups, `most` of them or fewer, among which the work of `wanted` goes in shares as equal as can
/// be: each takes the next one when it is done with the one before.
std::int64_t even_shares(std::int64_t wanted, std::int64_t most);
/// Declarations of what the folding of sums needs of a group's memory; empty without sums.
std::string sum_memory(const GpuReductions& reductions);

}  // namespace vphi::emit
