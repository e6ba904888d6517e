// The pattern `lines` on GPUs along x, where lines lie one behind the other in memory.
//
// A group is one warp with 32 lines. Cells come and go in whole pieces of 64 bytes of each line,
// through a ring in local memory; a thread reads its own line there, four cells at a time. The ring
// holds the piece that is walked, the one before it, whose cells are replaced by new values, and
// what is on its way. Each line is shifted by the cells that bring its pieces to multiples of 64
// bytes in memory.
#pragma once

#include "compiler/emit/walks/lines.hpp"

namespace vphi::emit {

/// Whether the form applies: x is the axis, and lines are long against the stencil and the pieces.
bool along_pieces(const Job& job, const kernel::Line& line);

/// Cuts the only line of a lattice into runs, one for each thread that the device holds; false where
/// there are too few cells, or the pieces do not suit.
bool cut_into_runs(kernel::Line& line, const TargetInfo& target);

program::Kernel emit_lines_x(const Job& job, const kernel::Line& line, const Bindings& bindings);

}  // namespace vphi::emit
