// The equation u = g(u) of `solve`, whose solution is written out.
//
// u is the root of a quadratic equation where g makes one. Otherwise it is u_n of
//   fixed_point   u_(i+1) = g(u_i)
//   newton        u_(i+1) = u_i - (u_i - g(u_i))/(1 - dg/du), between `from` and `to` if given:
//   they
//                 close in on the solution, and where Newton leaves them their middle is taken
//   bisection     the half of what is left between `from` and `to` in which u - g(u) changes sign
// with n from what random states need: q^n d0 <= tol, q the largest |dg/du| at their solutions and
// d0 the largest distance of the start; log2((to - from)/tol) halves; and of Newton, for which
// nothing is proved, `max` iterations, or without it as many as the slowest state takes. A fixed
// point that starts from 0 is not taken closer than the precision of the run shows. For the
// relativistic equations of docs/formulas.md 4.3 q is v^2 c_s^2. The states come from random
// primitive variables by the forward map of `conserve`, and the recovery must find these again
// (docs/rules.md rule 20).
#pragma once

#include <string>
#include <vector>

#include "compiler/physics/fluids/conservation.hpp"
#include "compiler/physics/fluids/fluid_states.hpp"

namespace vphi::physics {

class RecoveryEquation {
 public:
  /// `solved` is the symbol of u.
  RecoveryEquation(const Equations& d, const Solve& solve, Expr solved, const TrialStates& trials)
      : d_(d), solve_(solve), solved_(solved), trials_(trials) {}

  /// States with their u, by the method of the model, to the last digits; NaN where it finds none.
  std::vector<TrialState> solved(std::vector<TrialState> states, Expr g) const;
  Solution solution_of(Expr g, const std::vector<TrialState>& states) const;

 private:
  const Equations& d_;
  const Solve& solve_;
  Expr solved_;
  const TrialStates& trials_;
};

/// "rho = 1, v[0] = 0.3": primitive variables as a reader sees them.
std::string shown_state(const Declared& d, const TrialState& state);

}  // namespace vphi::physics
