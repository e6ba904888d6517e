// Arithmetic of a solver's text: fields component by component, numbers that may be complex.
//
// What a name or the operator means is the caller's (Meaning); everything else is here. Failure is
// an ArithmeticError (compiler/text/arithmetic.hpp) with the place in the text.
#pragma once

#include <functional>

#include "compiler/physics/lower/values.hpp"
#include "compiler/text/arithmetic.hpp"

namespace vphi::schedule {

struct SolverMeaning {
  std::function<physics::Value(const dsl::Expr&)> name;
  /// A(v), or its adjoint applied to v.
  std::function<physics::Value(const dsl::Expr&, const physics::Value&, bool adjoint)> apply;
  /// A call whose value is known already (a total that no iteration changes); null otherwise.
  std::function<const physics::Value*(const dsl::Expr&)> known;
  /// inner(v, tol): about A^-1 v, in the inner precision; null where the call names none.
  std::function<physics::Value(const dsl::Expr&)> inner;
  std::string op;  ///< name of the operator
};

physics::Value evaluate(const dsl::Expr& expr, const SolverMeaning& meaning, algebra::Arena& arena);

}  // namespace vphi::schedule
