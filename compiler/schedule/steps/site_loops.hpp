// Makes sweeps from a block: decides in which pass over the lattice each value is computed, and
// where it is stored.
//
// A value can be computed in the sweep that computes its arguments if it reads them at the site
// itself. If it reads them at a neighbour, or as a mean, it needs the next sweep. Each value is
// assigned to the earliest possible sweep. Values that no later sweep reads stay in registers;
// others get memory. A later value of a state array is stored in that array: in place, or in its
// second buffer where the old value is read at neighbours in the same sweep.
//
// With `join`, a value that is needed only at the end is assigned to a later sweep, if that sweep
// reads more of the value's arguments than the earliest one. These are then read once for both.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/kernel/passes.hpp"
#include "compiler/schedule/steps/block.hpp"

namespace vphi::schedule {

struct Wanted {
  std::map<int, Expr> arrays;      ///< array with memory -> Load of its final value
  std::vector<std::string> slots;  ///< scalars that must be assigned at the end
  /// The block overwrites no input, so cheap values may be recomputed instead of stored.
  bool pure = false;
  std::string name = "sweep";  ///< names of the kernels: name, name_2, ...
  int along = -1;              ///< kernel::Kernel::along
  bool join = false;           ///< see above
  /// Scratch arrays of earlier blocks whose values are no longer needed. They are reused, and new
  /// ones are added.
  std::vector<int>* scratch = nullptr;
};

struct SiteLoops {
  std::vector<kernel::SiteLoop> sweeps;     ///< the epilogues compute scalars from the sums
  std::vector<std::vector<int>> swaps;      ///< arrays whose buffers are exchanged after each
  std::vector<kernel::ScalarAssign> alone;  ///< scalars of a block without sweeps
};

SiteLoops make_site_loops(const Block& block, const Wanted& wanted);

}  // namespace vphi::schedule
