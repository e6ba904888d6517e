// Values of expressions again and again, each time for other leaves.
//
// The operations are listed once, each after its arguments, so a further evaluation costs the
// operations alone. `evaluate` (transform.hpp) searches the expression anew and gives the same
// numbers. An Evaluation must not outlive the arena of its expressions.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "compiler/algebra/expr.hpp"

namespace vphi::algebra {

class Evaluation {
 public:
  Evaluation() = default;
  /// Throws std::invalid_argument where an expression reads all sites.
  explicit Evaluation(std::span<const Expr> roots);

  /// The values of the roots, in their order. `leaf` is asked once for each Symbol, Load, Site and
  /// Stencil (whole node) among them.
  std::vector<double> operator()(const std::function<double(const Node&)>& leaf) const;

 private:
  struct Operation {
    const Node* node = nullptr;
    std::size_t first = 0, count = 0;  ///< places of its arguments in arguments_
  };
  std::vector<Operation> operations_;
  std::vector<std::size_t> arguments_;  ///< numbers of operations
  std::vector<std::size_t> roots_;
};

}  // namespace vphi::algebra
