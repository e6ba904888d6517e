// What clang is told about a loop of known length whose iterations are sites of thousands of
// operations. Its analysis of such loops (how many lanes, how many vectors at once) takes longer
// than all other steps together; what it would choose follows from counts.
#pragma once

#include "compiler/emit/text/frame.hpp"

namespace vphi::emit {

/// Words of a pragma for a loop of `count` iterations in `real` on vectors of at most `most`
/// numbers in f64: the lanes that clang would choose anyway, and that no iterations are left over.
/// `other` where that is not known.
Code lanes_text(Precision real, std::int64_t count, std::int64_t most, const char* other);

/// The pragma in front of the loop over the sites of a row: VPHI_`name`, and the item that defines
/// it where that is not the prelude.
struct RowPragma {
  Code name = "VECTORISE", definition;
};
/// `functions`: what the site calls, and itself; `width`: sites of a row, or 0 where rows have
/// different lengths.
RowPragma row_pragma(const Job& job, const Code& functions, std::int64_t width);

}  // namespace vphi::emit
