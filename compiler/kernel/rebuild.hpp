// Replaces nodes of expressions whose order of operations is fixed.
//
// Unlike algebra::rewrite this keeps the order of operations (Node::fixed_order). Constants that
// result are folded in the widest precision: operations on numbers, factors 0 and 1, terms 0,
// numeric factors of nested products. Nothing here can fail.
#pragma once

#include <functional>
#include <unordered_map>

#include "compiler/algebra/expr.hpp"

namespace vphi::kernel {

class Rebuilder {
 public:
  /// `replace` returns the replacement of a node, or null to keep it; it is called before the
  /// arguments are visited.
  explicit Rebuilder(std::function<algebra::Expr(algebra::Expr)> replace)
      : replace_(std::move(replace)) {}
  algebra::Expr operator()(algebra::Expr expr);

 private:
  std::function<algebra::Expr(algebra::Expr)> replace_;
  std::unordered_map<const algebra::Node*, algebra::Expr> done_;
};

}  // namespace vphi::kernel
