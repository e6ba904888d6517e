// Rewrites expressions that are computed together, and keeps the order of their nodes.
//
// Nodes are numbered as they are made, and a long site function is computed in that order
// (emit/text/register_order.hpp). If the results of a site were rebuilt one after the other, every
// result would start a part of each product of matrices, and all products would have to be held.
// Here nodes are rebuilt in the order in which they were written, whichever results they
// belong to.
#pragma once

#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "compiler/algebra/expr.hpp"
#include "compiler/algebra/node_map.hpp"

namespace vphi::algebra {

class Rewriting {
 public:
  /// `change` is called for each node after its arguments, once for each object of this class.
  explicit Rewriting(std::function<Expr(Expr)> change) : change_(std::move(change)) {}
  std::vector<Expr> operator()(std::span<const Expr> exprs);
  /// The new node for a node; null where it has not been rewritten yet.
  Expr known(Expr node) const;

 private:
  std::function<Expr(Expr)> change_;
  NodeMap done_;
};

/// Rewrites each list by the rewriting of the same place, in step: the first nodes of all lists,
/// then the second ones, and so on, without the nodes that all lists have. Lists of one form thus
/// become operations that follow each other closely: what they share is used by all of them at
/// once. The results are known to the rewritings afterwards.
void rewrite_in_step(std::span<Rewriting* const> rewritings,
                     std::span<const std::vector<Expr>> lists);

}  // namespace vphi::algebra
