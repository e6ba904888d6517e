// The table of operations: one row for each, with all its algebraic properties.
//
// A new function of one real argument is a row of dsl/functions.def: from it come the enumerator in
// expr.hpp, the row here, the calls in kernels and interpreters, and the reference. The rows are
// constant data; nothing here fails. Canonical sums, products and powers are in simplify.cpp.
#pragma once

#include "compiler/algebra/expr.hpp"

namespace vphi::algebra {

enum class Parity { None, Even, Odd };

struct Row {
  OpInfo info;
  Parity parity = Parity::None;
  /// Value at the given arguments; null for leaves, stencils and reductions.
  double (*value)(const double* args, int count) = nullptr;
  long double (*value_long)(const long double* args, int count) = nullptr;
  /// Derivative of `node`, given the derivatives `slopes` of its arguments; null: 0 everywhere.
  Expr (*derivative)(Expr node, const std::vector<Expr>& slopes) = nullptr;
  /// Name in a formula: LaTeX command and MathML identifier; empty: printed by a rule of its own.
  std::string_view latex = {};
  std::string_view mathml = {};
  /// The operation g whose inverse this one is, f(g(x)) = x; Count_: none.
  Op undoes = Op::Count_;
  /// The function for f64 in C, CUDA and OpenCL; empty: it is no such function.
  std::string_view c_name = {};
};

const Row& row(Op op);

/// Whether its value is always 0 or 1.
bool is_condition(Op op);

/// Made by passes over kernels alone: the arguments stay in their order.
bool is_ordered(Op op);

/// Mean, Total, Minimum or Maximum: one number for all sites.
bool reduces_sites(Op op);

}  // namespace vphi::algebra
