// A sweep whose sites read along one axis only, as a walk along its lines.
//
// Computed site by site, a wide stencil repeats the work of its neighbours: a value at offset j+1
// of one site is the value at offset j of the next. `line_of` finds these: two values are equal if
// they are the same operations on reads shifted by the same distance. What remains is one value of
// each kind per cell, computed as soon as the walk has read everything it needs, and held as long
// as a later cell needs it. Faces of a flux, recovered variables and limits are values like any
// other.
//
// The walk takes one cell at each step. A value with lag L belongs to the cell L behind the newest;
// the operations are those of the kernel in the same order, so a walk gives the bits of a kernel
// that goes site by site. Beyond the ends of a line lie the cells that the boundary shows; what is
// made there is what the kernel's expressions make of them. Pure, and it cannot fail: where a
// kernel is not of this kind there is no Line.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/kernel/kernel.hpp"

namespace vphi::kernel {

struct Line {
  /// A value that the next step reads as the symbol `name`.
  struct Held {
    std::string name;
    Expr value;
    int ready = 0;  ///< steps from the start of a walk on that make it of cells before the start
  };
  int axis = 0;
  /// What one step does. A Load at 0 is of the newest cell, at -k along the axis of the cell k
  /// before it; Site along the axis is the newest cell's. `arrays`, `reductions`, `epilogue` and
  /// the order of the stores are the kernel's.
  Kernel step;
  std::vector<Held> held;
  int delay = 0;      ///< stores and reductions are of the cell that far behind the newest
  int before = 0;     ///< the walk to cell k begins at cell k - before
  int back = 0;       ///< the largest k of a Load at -k
  /// A lattice of one dimension is one line: it is cut into runs of so many cells, which are walked
  /// side by side as lines are. 0: lines are walked whole.
  std::int64_t run = 0;
  std::set<int> odd;  ///< arrays that change sign beyond a reflecting wall
  /// By reduction, a sum that has terms other than 0 at some places along the axis only: these.
  std::vector<std::optional<std::set<std::int64_t>>> only;
  /// Scalar that is not 0 where nothing is to change: then what was there is copied, the walk left
  /// out, and the reductions are those of no site. "": there is none.
  std::string still;

  std::vector<std::string> names() const;  ///< of what is held
  /// The first `steps` steps of a walk, without what they could make of older cells only.
  Line warm(int steps) const;
};

/// The walk of a kernel that asks for one (Kernel::along); nothing where a read lies off the axis,
/// or where a stencil, a random number or a sum over pairs is among its values.
std::optional<Line> line_of(const Kernel& kernel);

}  // namespace vphi::kernel
