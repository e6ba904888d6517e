// Cuts a computation at its loops of rounds, for lanes that make each loop together.
//
// A processor computes several sites side by side, in the lanes of its vectors. Where an iteration
// is a loop that may end early, all lanes have to be in the same round: the lanes come to the loop
// together, make rounds until none of them needs another, and go on together. The computation of a
// site is therefore cut into the part before each loop, the rounds, and the part after the last
// loop. What a part makes and another one or a loop reads is handed on in memory. Operations and
// their order stay the same. Pure functions.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "compiler/kernel/rounds.hpp"

namespace vphi::kernel {

struct RoundParts {
  std::vector<Rounds> loops;  ///< in the order in which they run
  /// For each loop what the part before it hands on, beside the first values of the loop: values
  /// that it computes, and leaves that the loop reads.
  std::vector<std::vector<Expr>> made;
};

/// `leaf`: nodes that are not computed. `given`: leaves that differ from lane to lane, which a loop
/// reads from what was handed on. Conditions, places in tables and products that are added are
/// computed in each part that needs them: a multiply-add stays one.
RoundParts parts_between(std::vector<Rounds> loops, std::span<const Expr> roots,
                         const std::function<bool(const algebra::Node&)>& leaf,
                         const std::function<bool(const algebra::Node&)>& given);

/// The loops that are worth such a cut: their rounds cost much more than comparing and handing on
/// what they change, and all rounds but the first much more than the cut.
std::vector<Rounds> rounds_of_lanes(std::span<const Expr> roots,
                                    const std::function<bool(const algebra::Node&)>& leaf,
                                    Precision precision);

}  // namespace vphi::kernel
