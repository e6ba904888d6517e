// From a block to sweeps: which value is made in which pass over the lattice, and where it lives.
//
// A value may be made in the sweep that makes what it reads, as long as it reads it at the site
// itself; read at a neighbour, or as a mean, it takes the next sweep. Each value goes to the
// earliest sweep that allows it. Values that nobody reads later stay in registers; others get
// memory: a later value of a state array goes where the array is (in place, or into its second
// buffer where the old one is read at neighbours in the same sweep).
//
// Where `join` says so, a value that is needed only at the end goes to a later sweep instead, if
// that sweep reads more of the value's arguments than the earliest one does: memory is
// read once for both.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/kernel/passes.hpp"
#include "compiler/schedule/steps/block.hpp"

namespace vphi::schedule {

struct Wanted {
  std::map<int, Expr> arrays;      ///< array with memory -> Load of the value it ends with
  std::vector<std::string> slots;  ///< scalars that must be there in the end
  /// Nothing that exists before is overwritten, so cheap values may be computed again, not kept.
  bool pure = false;
  std::string name = "sweep";  ///< of the kernels: name, name_2, ...
  int along = -1;              ///< kernel::Kernel::along
  bool join = false;           ///< with later sweeps, see above
  /// Arrays of earlier blocks whose values are not wanted any more: taken first, added to.
  std::vector<int>* scratch = nullptr;
};

struct SiteLoops {
  std::vector<kernel::SiteLoop> sweeps;     ///< epilogue: scalars that follow from the sums
  std::vector<std::vector<int>> swaps;      ///< arrays whose buffers are exchanged after each
  std::vector<kernel::ScalarAssign> alone;  ///< scalars, where there is no sweep at all
};

SiteLoops make_site_loops(const Block& block, const Wanted& wanted);

}  // namespace vphi::schedule
