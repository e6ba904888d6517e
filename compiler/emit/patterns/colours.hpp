// Pattern: the sites of one colour, in place. The site follows from (colour, number) by arithmetic,
// without a table; which colour is a number among the scalars, so that one kernel serves all.
//
// A processor goes through rows of cells along x, vectorised inside; a GPU takes one thread a cell.
#pragma once

#include "compiler/emit/text/frame.hpp"

namespace vphi::emit {

program::Kernel emit_colours(const Job& job, const Bindings& bindings);

/// Number of groups, at most `most`, such that the work of `wanted` groups is divided into shares
/// that are as equal as possible; a group takes its pieces one after the other.
std::int64_t even_shares(std::int64_t wanted, std::int64_t most);
/// Declarations of what the folding of sums needs of a group's memory; empty without sums.
Code sum_memory(const GpuReductions& reductions);

}  // namespace vphi::emit
