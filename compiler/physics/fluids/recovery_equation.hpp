// The solution of the equation u = g(u) of `solve`, as an expression.
//
// Where g makes the equation quadratic, u is its root. Otherwise u is the result of n iterations:
//   fixed_point  u_(i+1) = g(u_i);
//   newton       u_(i+1) = u_i - (u_i - g(u_i))/(1 - dg/du). With `from` and `to` these enclose the
//                solution ever closer, and their midpoint replaces an iterate outside of them;
//   bisection    the half of the interval between `from` and `to` where u - g(u) changes its sign.
//
// The number n follows from random states. For a fixed point it is the smallest with
// q^n d0 <= tol, where q is the largest |dg/du| at the solutions and d0 the largest distance of the
// first iterate; one that starts from 0 is not iterated beyond the precision of the run. Bisection
// takes log2((to - from)/tol) iterations. For Newton's method, which need not converge, n is `max`,
// or without it the number that the slowest state needs. For the relativistic equations of
// docs/formulas.md 4.3 q is v^2 c_s^2. The states are made from random primitive variables by the
// forward map of `conserve`, and the recovery must reproduce these (docs/rules.md rule 20).
#pragma once

#include <string>
#include <vector>

#include "compiler/physics/fluids/conservation.hpp"
#include "compiler/physics/fluids/fluid_states.hpp"

namespace vphi::physics {

/// Result for `solve v` of a vector, v = g(v).
struct VectorSolution {
  std::vector<Expr> values;  ///< v as functions of quantities
  Expr residual;             ///< largest |v - g(v)| of a component at these values
  std::int64_t iterations = 0;
  double reached = 0;  ///< largest error after these iterations
};

/// All components are iterated at once. The number of iterations is what the slowest of the states
/// takes, with its solutions found by 4000 iterations at most; E0793 where one is not found.
/// `solved`: a symbol for each component. Sets TrialState::components.
VectorSolution solve_vector(const Equations& d, const Solve& solve, const std::vector<Expr>& solved,
                            const std::vector<Expr>& g, std::vector<TrialState>& states);

class RecoveryEquation {
 public:
  /// `solved` is the symbol of u.
  RecoveryEquation(const Equations& d, const Solve& solve, Expr solved, const TrialStates& trials)
      : d_(d), solve_(solve), solved_(solved), trials_(trials) {}

  /// The states with their u, solved to rounding by the method of the model; NaN where it finds no
  /// solution.
  std::vector<TrialState> solved(std::vector<TrialState> states, Expr g) const;
  Solution solution_of(Expr g, const std::vector<TrialState>& states) const;

 private:
  const Equations& d_;
  const Solve& solve_;
  Expr solved_;
  const TrialStates& trials_;
};

/// "rho = 1, v[0] = 0.3": primitive variables in messages.
std::string shown_state(const Declared& d, const TrialState& state);

}  // namespace vphi::physics
