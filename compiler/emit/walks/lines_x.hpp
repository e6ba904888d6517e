// The pattern `lines` on GPUs along x, where a line is contiguous in memory.
//
// A group is one warp with 32 lines. Cells are moved in pieces of 64 bytes of each line through a
// ring buffer in local memory, where a thread reads its own line, four cells at a time. The ring
// buffer holds the current piece, the one before it, whose cells are replaced by new values, and
// pieces that are being copied. Each line starts at an offset such that its pieces are aligned to
// 64 bytes in memory.
#pragma once

#include "compiler/emit/walks/lines.hpp"

namespace vphi::emit {

/// Whether this variant applies: x is the axis, and lines are long compared with the stencil and
/// the pieces.
bool along_pieces(const Job& job, const kernel::Line& line);

/// Cuts the single line of a lattice into runs, one for each thread that the device can run at
/// once. False where there are too few cells, or they cannot be divided into pieces.
bool cut_into_runs(kernel::Line& line, const TargetInfo& target);

program::Kernel emit_lines_x(const Job& job, const kernel::Line& line, const Bindings& bindings);

}  // namespace vphi::emit
