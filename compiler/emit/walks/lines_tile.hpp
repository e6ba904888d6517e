// Pattern: the only line of a one-dimensional lattice on a GPU, in tiles.
//
// Each thread of a group has a cell, beside that of its neighbour. Every value is made once, by the
// thread of its cell; threads of other cells read it in local memory, after a barrier
// (kernel::Tile). The threads at the ends of a group, whose neighbours are missing, store nothing:
// the groups beside make these cells. A group takes one tile after the other.
#pragma once

#include "compiler/emit/walks/lines.hpp"

namespace vphi::emit {

/// The tile of a kernel that is walked in runs otherwise (`line`, of lines_of), where what threads
/// pass to each other fits the local memory and takes less time than the arrays, and few threads
/// have no result.
std::optional<kernel::Tile> tile_of(const kernel::Kernel& kernel, const kernel::Line& line,
                                    const TargetInfo& target);

program::Kernel emit_tile(const kernel::Tile& tile, const TargetInfo& target,
                          const Bindings& bindings);

}  // namespace vphi::emit
