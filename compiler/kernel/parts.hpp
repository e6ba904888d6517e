// Cuts a long computation at a site into parts that run one after the other.
//
// The sum of the staples of an improved action has about 10000 machine instructions, more than the
// caches of instructions of a GPU hold; all threads then wait for instructions. The computation is
// cut where the fewest numbers are needed on both sides: between two terms of a long sum these are
// the sum so far. The numbers are stored, the next part reads them. A number that takes few
// operations is computed again instead. The operations and their order do not change. Pure
// functions.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "compiler/kernel/kernel.hpp"

namespace vphi::kernel {

/// The numbers that each part but the last hands on, in the order of the parts. Empty: the
/// computation stays whole, because its estimated instructions, with rounds as loops (rounds.hpp),
/// are few or each place to cut it would move too many numbers. What comes before the first loop is
/// a part of its own where it is long: it needs more registers than the loops, so that fewer
/// threads would wait for each other's rounds. `stored`: roots that can be handed on at the place
/// where they are stored in any case. `leaf`: nodes that are read and not computed.
std::vector<std::vector<Expr>> cuts_of(std::span<const Expr> roots, std::span<const Expr> stored,
                                       const std::function<bool(const algebra::Node&)>& leaf,
                                       Precision precision);

}  // namespace vphi::kernel
