// The text of a solver as sweeps: what is done once before its rounds, in each of them, and after.
//
// A solver (models/std/solvers.vphi or the model's own) is a head `A(x) = b` with options and a
// body of lines with one `repeat`. Fields of the text have the shape of b, component by component;
// numbers may be complex. What a round sets and reads again keeps memory or a slot from one round
// to the next; a total of values that no round changes is taken once. Sweeps are made as everywhere
// (compiler/schedule/sweeps.hpp), so sums are taken where their values are made, and what is read
// at neighbours gets memory or a second buffer only where it must.
//
// Nothing branches: once `until` holds, values that a round would set are selected to stay.
#pragma once

#include <optional>

#include "compiler/schedule/pipeline.hpp"
#include "compiler/schedule/step.hpp"

namespace vphi::schedule {

struct SolveChains {
  Chain start, round, finish;
  std::vector<kernel::ScalarAssign> alone;  ///< before `start`
  /// All but launches.
  program::Solve described;
};

/// Nothing where the text cannot be run; then `diagnostics` says why. The arrays of the solution
/// get memory where they have none.
std::optional<SolveChains> make_solve(const physics::System& system,
                                      const physics::LinearSystem& solve, const Stepping& stepping,
                                      Slots& slots, Storage& storage,
                                      dsl::Diagnostics& diagnostics);

}  // namespace vphi::schedule
