// Pattern: walks on processors along the only line of a one-dimensional lattice. The line is cut
// into runs of neighbouring cells, and each lane of a vector walks a run. A run starts with the
// cells before it, from which its first values are computed. The last runs may be shorter; lanes
// beyond the end of the lattice store nothing.
#pragma once

#include "compiler/emit/walks/lines.hpp"

namespace vphi::emit {

/// Cells of a run where a lattice has so many.
std::int64_t run_of_lane(const kernel::Line& line, std::int64_t cells);
/// Sets the length of a run (Line::run); false where the lattice is too short for its stencil.
bool cut_into_lanes(kernel::Line& line);

program::Kernel emit_lines_runs(const Job& job, const kernel::Line& line, const Bindings& bindings);

}  // namespace vphi::emit
