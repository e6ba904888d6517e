// Integrators and solvers of the library or the model, as parsed text.
//
// Their lines remain parsed expressions (dsl::Expr), because the meaning of a name, and of a call
// of a parameter such as V(v), is known only where a step is made. Nothing here points into the
// model's syntax tree, so a text outlives the model that it was read from.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/algebra/expr.hpp"
#include "dsl/syntax/ast.hpp"

namespace vphi::text {

/// `variable' = right` in a head.
struct HeadEquation {
  std::string variable;
  dsl::ExprPtr right;
};

/// `name = value` in a body.
struct Statement {
  std::string name;
  dsl::ExprPtr value;
  dsl::Span span;
  std::string index = {};  ///< k of `name[k] = value`; none elsewhere
};

/// A function of the model that a body calls.
struct Function {
  std::vector<std::string> parameters;
  dsl::ExprPtr value;
};

/// `integrator NAME(x' = V(v), v' = F(x), option = 1) { ... }`, or a composition of one.
struct Integrator {
  std::string name;  ///< name in the model
  dsl::Span span;
  std::vector<HeadEquation> head;
  std::vector<std::pair<std::string, dsl::ExprPtr>> options;
  std::vector<Statement> body;
  /// Lengths of the substeps of a composition in units of dt; {1}: no composition.
  std::vector<algebra::Number> weights;
  std::map<std::string, Function> functions = {};
};

/// `solver NAME(A(x) = b, option = 1) { ... repeat until = condition { ... } ... }`.
/// Lines `name[k] = value` are repeated for each shift (text::with_shifts).
struct Solver {
  std::string name, op, unknown, source;  ///< names of the solver, and of A, x and b in its head
  std::vector<std::pair<std::string, dsl::ExprPtr>> options;
  std::vector<Statement> before, iteration, after;
  dsl::ExprPtr until;
  dsl::Span span;
};

}  // namespace vphi::text
