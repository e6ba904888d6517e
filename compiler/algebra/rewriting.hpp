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
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/algebra/expr.hpp"

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
  std::unordered_map<const Node*, Expr> done_;
};

}  // namespace vphi::algebra
