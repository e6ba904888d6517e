// Choices between a value that is known and one that an iteration finds.
//
// A choice is an operation on two values that both exist. Where one of them comes from loops that
// nothing else needs, these would run without need. A GPU leaves them out: the values of all
// choices by one condition are computed in two arms, of which a warp takes those that its threads
// ask for.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "compiler/kernel/rounds.hpp"

namespace vphi::kernel {

/// Choices by one condition, none of which needs another of them.
struct Choice {
  Expr condition;
  std::vector<Expr> selects;
  std::vector<Expr> before;  ///< what the arms read and others read as well
};

/// The choices that have whole loops in an arm and nowhere else. `rounds` are those of the roots
/// (find_rounds).
std::vector<Choice> choices_around(std::span<const Rounds> rounds, std::span<const Expr> roots,
                                   const std::function<bool(const algebra::Node&)>& leaf);

}  // namespace vphi::kernel
