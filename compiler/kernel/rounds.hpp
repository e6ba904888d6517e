// Rounds of an iteration in a computation that is written out.
//
// A value that is found by iteration (the equation of a recovery, a root by Newton's method) is an
// expression of all its rounds, one after the other. Where two rounds are the same operations on
// the values of the round before, they need to be written only once, in a loop that is counted. The
// operations and their order do not change, and neither do their results. Pure functions.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "compiler/kernel/kernel.hpp"

namespace vphi::kernel {

/// A number that rounds hand on, or that is used after the last of them.
struct RoundValue {
  Expr before;  ///< its value before the first round; none where no round reads that of another
  Expr first;   ///< what the first round makes of it
  Expr last;    ///< what the last round makes of it
};

/// Rounds of the same operations.
struct Rounds {
  int times = 0;            ///< at least two
  std::vector<Expr> body;   ///< the operations of the first round, each after its arguments
  std::vector<Expr> later;  ///< the operations of the other rounds
  std::vector<RoundValue> values;
  /// Arguments of the body that are the same in all rounds.
  std::vector<Expr> outside;
};

/// Where rounds begin: where they hand on the fewest numbers, or first of all the fewest products
/// that the next round adds, because a product that is handed on is not part of a multiply-add.
enum class HandOn { Fewest, FewestProducts };

/// The rounds in what the roots need, which do not overlap. `leaf`: nodes that are not computed.
/// Rounds whose values other parts of the computation use, except those of the last round, are
/// left out.
std::vector<Rounds> find_rounds(std::span<const Expr> roots,
                                const std::function<bool(const algebra::Node&)>& leaf,
                                HandOn hand_on = HandOn::Fewest);

/// Whether a value is computed by a multiplication last of all; a quotient is not.
bool is_product(Expr expr);
/// Whether the operation may be a multiply-add of its arguments.
bool is_sum(algebra::Op op);

/// The rounds that are worth a loop on a GPU: their computation written out is longer than its
/// caches of instructions hold. On an H100 kernels of four cells took 0.71 of a loop's time with
/// 2664 estimated instructions a cell, and 1.64 and 2.0 times as long with 3750 and 6962.
std::vector<Rounds> long_rounds(std::span<const Expr> roots,
                                const std::function<bool(const algebra::Node&)>& leaf,
                                Precision precision);

/// Whether a round costs so much more than comparing the values that it hands on that its loop may
/// end early.
bool worth_watching(const Rounds& rounds, Precision precision);

/// The condition by which a round hands on what it was given: each of its values is a choice, by
/// this condition, of its value before, or a function of such choices. Null: there is none.
Expr settling(const Rounds& rounds);

/// The rounds that a GPU's site function makes in loops: long ones, or else those of one
/// number that may end early. `many_reads`: the function would otherwise
/// be written out with its reads in the order of their uses (kManyReads of device.hpp), and only
/// loops that leave out more than half of its instructions are worth giving that up.
std::vector<Rounds> rounds_in_loops(std::span<const Expr> roots,
                                    const std::function<bool(const algebra::Node&)>& leaf,
                                    Precision precision, bool many_reads);

/// An estimate of the machine instructions of these operations on a GPU, for which a quotient, a
/// root or another function is a sequence in line.
int estimated_instructions(std::span<const Expr> operations, Precision precision);

/// The estimated instructions that a loop saves: those of all rounds but the first.
int instructions_saved(const Rounds& loop, Precision precision);
int instructions_saved(std::span<const Rounds> loops, Precision precision);

/// All operations that the roots need, each after its arguments.
std::vector<Expr> operations_of(std::span<const Expr> roots,
                                const std::function<bool(const algebra::Node&)>& leaf);

}  // namespace vphi::kernel
