// Texts of the library or the model as values: integrators and solvers as they are written.
//
// Their lines stay arithmetic as parsed (dsl::Expr): what a name means, and the call of a hole, is
// known only where a step is made. Nothing here points into a model: a text outlives what it was
// read from.
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
};

/// A function of the model that a body calls.
struct Function {
  std::vector<std::string> parameters;
  dsl::ExprPtr value;
};

/// `integrator NAME(x' = V(v), v' = F(x), option = 1) { ... }`, or a composition of one.
struct Integrator {
  std::string name;  ///< as the user called it
  dsl::Span span;
  std::vector<HeadEquation> head;
  std::vector<std::pair<std::string, dsl::ExprPtr>> options;
  std::vector<Statement> body;
  std::vector<algebra::Number> weights;  ///< lengths of its runs in units of dt; {1}: a plain body
  std::map<std::string, Function> functions = {};
};

/// `solver NAME(A(x) = b, option = 1) { ... repeat until = condition { ... } ... }`.
struct Solver {
  std::string name, op, unknown, source;  ///< of A, x and b in the head
  std::vector<std::pair<std::string, dsl::ExprPtr>> options;
  std::vector<Statement> before, iteration, after;
  dsl::ExprPtr until;
  dsl::Span span;
};

}  // namespace vphi::text
