// Transforms a kernel whose sites read along one axis only into a walk along the lines of this
// axis.
//
// Computed site by site, a wide stencil repeats the work of its neighbours: a value at offset j+1
// of one site is the value at offset j of the next. `line_of` finds these: two values are equal if
// they are the same operations on reads shifted by the same distance. There remains one value of
// each kind per cell. It is computed as soon as the walk has read its arguments, and held as long
// as a later cell needs it. This covers fluxes at faces, recovered variables and limits.
//
// The walk takes one cell at each step. A value with lag L belongs to the cell L behind the newest.
// The operations are those of the kernel in the same order, so the results of a walk are those of a
// kernel that goes site by site, bit for bit. Cells beyond the ends of a line have the values given
// by the boundary, and the kernel's expressions are evaluated there as well. Pure functions; where
// a kernel is not of this kind there is no Line.
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
    int ready = 0;  ///< number of first steps of a walk that compute it from cells before the start
  };
  int axis = 0;
  /// One step of the walk. A Load at 0 reads the newest cell, a Load at -k along the axis the cell
  /// k before it; Site along the axis is the coordinate of the newest cell. `arrays`, `reductions`,
  /// `epilogue` and the order of the stores are the kernel's.
  Kernel step;
  std::vector<Held> held;
  int delay = 0;   ///< stores and reductions belong to the cell this far behind the newest
  int before = 0;  ///< the walk to cell k begins at cell k - before
  int back = 0;    ///< the largest k of a Load at -k
  /// Length of runs in cells. A lattice of one dimension is one line, which is cut into runs that
  /// are walked side by side, as lines are. 0: lines are not cut.
  std::int64_t run = 0;
  std::set<int> odd;  ///< arrays that change sign beyond a reflecting wall
  /// For each reduction: the coordinates along the axis where a sum has nonzero terms, if these are
  /// only some.
  std::vector<std::optional<std::set<std::int64_t>>> only;
  /// For each reduction: a sum of at most two terms that are not zero, each at a site of its own.
  /// It has the same bits in any order of the sites.
  std::vector<bool> two_terms;
  /// In a phase of a tile: symbols of values that earlier phases made.
  std::set<std::string> given;
  /// Scalar that is nonzero where an instance has stopped: then the arrays are copied, the walk is
  /// skipped, and the reductions are those of no site. "": there is no such scalar.
  std::string still;

  std::vector<std::string> names() const;  ///< names of the held values
  /// The first `steps` steps of a walk, without values of cells before the start.
  Line warm(int steps) const;
};

/// The same values where each thread of a group has a cell of a line, one beside the other. Each
/// value is made once, by the thread of its cell, and threads of neighbouring cells read it in the
/// memory of the group. What has to be read there is made in an earlier phase; a barrier separates
/// phases.
struct Tile {
  /// What a phase makes for later ones: Line::held of its number.
  struct Passed {
    bool own = false;       ///< read later by the thread itself
    std::vector<int> from;  ///< distances of the threads that read it; not 0
  };
  /// In each phase a Load reads from memory, at a distance from the thread's own cell, and the
  /// symbols `passed_name` are values of earlier phases. Only the last one has stores and
  /// reductions, which are those of the thread's own cell.
  std::vector<Line> phases;
  std::vector<std::vector<Passed>> passed;  ///< for each phase and each of its Line::held
  int behind = 0, ahead = 0;  ///< threads of a group before and after those that have results
};
/// The symbol by which a phase reads the value `name` of the thread at this distance.
std::string passed_name(const std::string& name, int distance);
std::optional<Tile> tile_of(const Kernel& kernel);

/// The walk of a kernel with Kernel::along set. Nothing where a read is off the axis, or where the
/// values contain a stencil, a random number or a sum over pairs.
std::optional<Line> line_of(const Kernel& kernel);

}  // namespace vphi::kernel
