// Determinants of operators on spinors, as actions write them: `pseudofermion(D)` is |det D|^2.
//
// A determinant is a call of `pseudofermion`, the name of an action that is one, or a product or a
// quotient of determinants. `determinant_calls` takes such a text apart, and
// `Lowerer::determinant_factor` reads one call: the operator with the names that the call sets, and
// the solvers of its linear systems.
#pragma once

#include <vector>

#include "compiler/physics/spinors/even_odd.hpp"
#include "compiler/physics/spinors/spinors.hpp"
#include "compiler/physics/stages/context.hpp"

namespace vphi::physics {

struct DeterminantFactor {
  std::string name;  ///< of the operator in the model
  SpinorForm form;   ///< D
  SpinorForm adjoint;
  int colours = 1;
  std::array<bool, 4> antiperiodic{};
  /// Name, solver, options and place of the systems; the rest is empty.
  LinearSystem solver;
  /// The same of the systems that only kicks need, where the call gives them a solver of their own.
  std::optional<LinearSystem> kicks;
  /// Solves for kicks start from the last solutions, at most so many; 0: from 0.
  int past = 0;
  /// Set where the field is at odd sites alone (`even_odd = on`): D and its adjoint in parts.
  std::optional<PartedOperator> parts, adjoint_parts;
  dsl::Span span;
};

/// A call of `pseudofermion`, and whether it stands in the denominator.
struct DeterminantCall {
  const dsl::Expr* call = nullptr;
  bool divides = false;
};

/// Whether the value of an action is a determinant.
bool is_determinant(const Context& d, const dsl::Expr& e);
/// The calls in the order of the text; empty where the expression is no determinant.
std::vector<DeterminantCall> determinant_calls(const Context& d, const dsl::Expr& e);

}  // namespace vphi::physics
