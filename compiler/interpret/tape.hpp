// Expressions of a kernel as a list of operations on numbered values, for the interpreter.
//
// Equal subexpressions are one operation. Arguments are evaluated from left to right, whatever
// form the sums and products are in, so kernels can be run before and after ordering.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "compiler/algebra/expr.hpp"

namespace vphi::kernel {

struct Tape {
  struct Operation {
    algebra::Op op = algebra::Op::Number;
    std::vector<int> args;
    const algebra::Node* node = nullptr;
  };
  std::vector<Operation> operations;
  std::unordered_map<const algebra::Node*, int> index;

  /// Index of the operation that computes `expr`, which is added where it is new.
  int add(algebra::Expr expr);
};

/// The result of one operation on computed values (not for leaves and stencils).
template <class Real>
Real apply(algebra::Op op, const std::vector<int>& args, const std::vector<Real>& values);

extern template float apply(algebra::Op, const std::vector<int>&, const std::vector<float>&);
extern template double apply(algebra::Op, const std::vector<int>&, const std::vector<double>&);

}  // namespace vphi::kernel
