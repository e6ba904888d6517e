// Expressions in a fixed order rebuilt with some of their nodes replaced.
//
// Unlike algebra::rewrite this keeps the order of operations (Node::ordered). Constants that come
// about are folded in the widest precision: numbers alone, factors 0 and 1, terms 0, numeric
// factors of nested products. Nothing here can fail.
#pragma once

#include <functional>
#include <unordered_map>

#include "compiler/algebra/expr.hpp"

namespace vphi::kernel {

class Rebuilder {
 public:
  /// `replace`: what stands for a node, asked before its arguments are looked at; null: itself.
  explicit Rebuilder(std::function<algebra::Expr(algebra::Expr)> replace)
      : replace_(std::move(replace)) {}
  algebra::Expr operator()(algebra::Expr expr);

 private:
  std::function<algebra::Expr(algebra::Expr)> replace_;
  std::unordered_map<const algebra::Node*, algebra::Expr> done_;
};

}  // namespace vphi::kernel
