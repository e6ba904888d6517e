// The same Brownian path with twice the step.
//
// A step of length h over a Wiener process is two of length h/2: dW = dW_1 + dW_2. `sum_draws`
// changes a plan so that step n uses (psi_2n + psi_2n+1)/sqrt(2) instead of the Gaussian number
// psi_n. Here psi_m is the number of step m of the original plan, as a run at half the step and
// with the same seed draws it. The increments are then sums of those of the finer run. Further
// Gaussians of a step (iterated integrals of strong schemes) are summed as well, which keeps their
// distribution but not the path's iterated integrals.
#pragma once

#include "compiler/model/plan.hpp"

namespace vphi::schedule {

/// False, with the plan unchanged, where a kernel draws numbers that are not Gaussian (two- and
/// three-point noise): a sum of two does not have that distribution.
bool sum_draws(Plan& plan);

}  // namespace vphi::schedule
