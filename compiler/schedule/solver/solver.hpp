// The text of a solver as sweeps: those before its iterations, those of an iteration, those after.
//
// A solver (models/std/solvers.vphi or the model's own) is a head `A(x) = b` with options and a
// body of lines with one `repeat`. Fields of the text have the shape of b, component by component;
// numbers may be complex. What an iteration sets and the next one reads has memory or a slot; a
// total of values that no iteration changes is computed once. Sweeps are made as everywhere
// (compiler/schedule/steps/site_loops.hpp), so sums are taken where their values are made, and what
// is read at neighbours gets memory or a second buffer only where it must.
//
// Lines after the iterations say how a solve continues with a right side that replaces the one
// before, with x counted from 0 again. Names that they do not set keep their values.
//
// Nothing branches: once `until` holds, selects keep the values that an iteration would set.
#pragma once

#include <memory>
#include <optional>

#include "compiler/schedule/pipeline.hpp"
#include "compiler/schedule/steps/step.hpp"

namespace vphi::schedule {

struct SolveLoops {
  LoopSequence start, iteration, finish;
  /// Where a text says how it goes on once the right side has changed: in the place of `start` from
  /// the second time on.
  LoopSequence restart;
  /// What each iteration takes from a solve in a lower precision; `rest` makes its right side.
  std::unique_ptr<SolveLoops> inner;
  LoopSequence rest;
  std::vector<kernel::ScalarAssign> alone;  ///< before `start`
  /// All but launches.
  program::Solve described;
};

/// Nothing where the text cannot be run; then `diagnostics` says why. The arrays of the solution
/// get memory where they have none.
std::optional<SolveLoops> make_solve(const physics::System& system,
                                     const physics::LinearSystem& solve, const Stepping& stepping,
                                     Slots& slots, Storage& storage, dsl::Diagnostics& diagnostics);
/// A system that takes its right side from memory and leaves the solution in memory, for systems
/// with one operator (LinearSystem::like): `load` puts the right side there, `save` takes the
/// solution and what tells how it went to the system's own places.
struct SharedSolve {
  physics::LinearSystem system;
  std::vector<int> right;  ///< arrays of the right side
};
SharedSolve share_solve(const physics::System& system, const physics::LinearSystem& first,
                        const std::string& suffix, Slots& slots, Storage& storage);
struct SolveCopies {
  SiteLoops load, save;
};
SolveCopies copies_of(const physics::System& system, const SharedSolve& shared,
                      const physics::LinearSystem& own, const Stepping& stepping, Slots& slots,
                      Storage& storage);

}  // namespace vphi::schedule
