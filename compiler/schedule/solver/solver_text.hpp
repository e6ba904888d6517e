// Arithmetic of a solver's text: fields, component by component, and complex numbers.
//
// The caller gives the meaning of names and of the operator (Meaning). Errors are thrown as
// ArithmeticError (compiler/text/arithmetic.hpp) with the place in the text.
#pragma once

#include <functional>

#include "compiler/physics/lower/values.hpp"
#include "compiler/text/arithmetic.hpp"

namespace vphi::schedule {

struct SolverMeaning {
  std::function<physics::Value(const dsl::Expr&)> name;
  /// A(v), or its adjoint applied to v.
  std::function<physics::Value(const dsl::Expr&, const physics::Value&, bool adjoint)> apply;
  /// The value of a call that is already computed (a total that no iteration changes), or null.
  std::function<const physics::Value*(const dsl::Expr&)> known;
  /// inner(v, tol): approximately A^-1 v, in the inner precision; null where the text has no inner
  /// solver.
  std::function<physics::Value(const dsl::Expr&)> inner;
  /// B^+ v of A = B B^+ (text/squares.hpp); null where A is not known to be such a product.
  std::function<physics::Value(const physics::Value&)> halfway;
  std::string op;  ///< name of the operator
};

physics::Value evaluate(const dsl::Expr& expr, const SolverMeaning& meaning, algebra::Arena& arena);

}  // namespace vphi::schedule
