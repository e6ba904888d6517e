// The same Brownian path at another step.
//
// A step of length h over a Wiener process is two of length h/2: dW = dW_1 + dW_2. `sum_draws`
// makes a plan whose step n takes (psi_2n + psi_2n+1)/sqrt(2) in the place of every Gaussian number
// psi_n of its own, with psi_m the number of step m of the plan as it was: what a run at half the
// step draws, from the same seed. Increments are then sums of the finer run's. Further Gaussians of
// a step (iterated integrals of strong schemes) are summed as well, which keeps their distribution
// but not the path's iterated integrals.
#pragma once

#include "compiler/model/plan.hpp"

namespace vphi::schedule {

/// False, and nothing changed, where a kernel draws numbers that are not Gaussian (two- and
/// three-point noise): a sum of two does not have that distribution.
bool sum_draws(Plan& plan);

}  // namespace vphi::schedule
