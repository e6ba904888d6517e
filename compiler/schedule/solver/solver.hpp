// Makes sweeps from the text of a solver: before its iterations, in an iteration, and after them.
//
// A solver (models/std/solvers.vphi or the model's own) is a head `A(x) = b` with options and a
// body of lines with one `repeat`. Fields of the text have the shape of b, component by component;
// numbers may be complex. A value that one iteration sets and the next reads has memory or a slot.
// A total of values that no iteration changes is computed once. The sweeps are made by
// steps/site_loops.hpp: sums are taken in the sweep that computes their values, and values get
// memory or a second buffer only where they need it.
//
// Lines after the iterations say how a solve continues with a new right side, where x starts from 0
// again. Names that they do not set keep their values.
//
// There are no branches: once `until` holds, selects keep the values that an iteration would
// change.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "compiler/schedule/pipeline.hpp"
#include "compiler/schedule/steps/step.hpp"

namespace vphi::schedule {

struct SolveLoops {
  LoopSequence start, iteration, finish;
  /// The sweeps of the lines after the iterations: they replace `start` from the second solve on.
  LoopSequence restart;
  /// The solve in a lower precision that each iteration uses; `rest` computes its right side.
  std::unique_ptr<SolveLoops> inner;
  /// Launched before an iteration, `rest_times` times.
  LoopSequence rest;
  int rest_times = 1;
  std::vector<kernel::ScalarAssign> alone;  ///< assigned before `start`
  /// The entry of the program without launches.
  program::Solve described;
};

/// Nothing, with an error in `diagnostics`, where the text cannot be used. Allocates the arrays of
/// the solution where they have no memory.
/// `columns`: systems that differ in their right sides and are solved in one go. A round is one for
/// all of them, with numbers of its own for each; one that has converged stays as it is, and the
/// rounds end with the last. With `inner` the rounds in the lower precision are in common too.
/// `products`: how many products with earlier solutions (LinearSystem::past) a sweep makes; 0: all.
std::optional<SolveLoops> make_solve(const physics::System& system,
                                     std::span<const physics::LinearSystem> columns, int products,
                                     const Stepping& stepping, Slots& slots, Storage& storage,
                                     dsl::Diagnostics& diagnostics);
/// A system that reads its right side from memory and leaves the solution in memory. Several
/// systems with one operator use it (LinearSystem::like): `load` stores the right side, and `save`
/// copies the solution, the number of iterations and the residual to the system's own arrays and
/// slots.
struct SharedSolve {
  physics::LinearSystem system;
  std::vector<int> right;  ///< arrays of the right side
};
SharedSolve share_solve(const physics::System& system, const physics::LinearSystem& first,
                        const std::string& suffix, Slots& slots, Storage& storage);
/// The same system once more, with memory and numbers of its own: a further column of `first`.
SharedSolve further_column(const physics::System& system, const SharedSolve& first,
                           const std::string& suffix, Slots& slots, Storage& storage);
struct SolveCopies {
  SiteLoops load, save;
};
SolveCopies copies_of(const physics::System& system, const SharedSolve& shared,
                      const physics::LinearSystem& own, const Stepping& stepping, Slots& slots,
                      Storage& storage);

}  // namespace vphi::schedule
