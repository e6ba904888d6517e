// Determinants of operators on spinors, as actions write them: `pseudofermion(D)` is |det D|^2.
//
// A determinant is a call of `pseudofermion`, the name of an action that is one, or a product, a
// quotient or a power of determinants. `determinant_calls` takes such a text apart, and
// `Lowerer::determinant_factor` reads one call, of which a power is a fraction or 1: the operator
// with the names that the call sets, and the solvers of its linear systems.
#pragma once

#include <vector>

#include "compiler/algebra/fractional_power.hpp"
#include "compiler/physics/spinors/even_odd.hpp"
#include "compiler/physics/spinors/spinors.hpp"
#include "compiler/physics/stages/context.hpp"

namespace vphi::physics {

/// |det D|^(2p), 0 < |p| < 1: S = <phi, r(D adj(D)) phi> with r(z) about z^-p, and phi = s(D
/// adj(D)) eta with s(z) about z^(p/2).
struct DeterminantFraction {
  long double power = 0;          ///< below 0 in a denominator
  long double low = 0, high = 0;  ///< of the eigenvalues of D adj(D)
  algebra::SimpleFractions action, field;
  LinearSystem field_solver;  ///< the solver of phi; the shifts are those of `field`
  LinearSystem ends;          ///< the text that finds an end of the spectrum
};

struct DeterminantFactor {
  std::string name;  ///< of the operator in the model
  SpinorForm form;   ///< D
  SpinorForm adjoint;
  int colours = 1;
  EdgePhases edges{};
  /// Name, solver, options and place of the systems; the rest is empty.
  LinearSystem solver;
  /// The same of the systems that only kicks need, where the call gives them a solver of their own.
  std::optional<LinearSystem> kicks;
  /// Solves for kicks start from the last solutions, at most so many; 0: from 0.
  int past = 0;
  /// Set where the field is at odd sites alone (`even_odd = on`): D and its adjoint in parts.
  std::optional<PartedOperator> parts, adjoint_parts;
  std::optional<DeterminantFraction> fraction;
  dsl::Span span;
};

/// A call of `pseudofermion`, whether it stands in the denominator, and the exponents of the powers
/// that it stands in.
struct DeterminantCall {
  const dsl::Expr* call = nullptr;
  bool divides = false;
  std::vector<const dsl::Expr*> exponents = {};
  bool named = false;  ///< stands in the text of another action, which this one names
};

/// Whether the value of an action is a determinant.
bool is_determinant(const Context& d, const dsl::Expr& e);
/// The calls in the order of the text; empty where the expression is no determinant.
std::vector<DeterminantCall> determinant_calls(const Context& d, const dsl::Expr& e);
/// S of each site at the end of the last trajectory, where the name is that of an action with
/// determinants that a trajectory integrates.
std::optional<Expr> action_at_end(const Context& d, const std::string& name);

}  // namespace vphi::physics
