// Pattern: the sites of one colour, in place. The site follows from (colour, number) by arithmetic,
// without a table; which colour is a number among the scalars, so that one kernel serves all.
//
// A processor goes through rows of cells along x, vectorised inside; a GPU takes one thread a cell.
#pragma once

#include "compiler/emit/frame.hpp"

namespace vphi::emit {

program::Kernel emit_colours(const Job& job, const Bindings& bindings);

}  // namespace vphi::emit
