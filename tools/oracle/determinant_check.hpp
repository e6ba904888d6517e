// Compares determinants in the weight of trajectories with the text. The scheduled kernels draw a
// field and solve for X and Y; the text's operators D1, of the numerator, and D2, of the
// denominator (1 where there is none), must give
//   D2 phi = D1 eta at the start,   D1 Y = D2 phi,   <X, D1 v> = <Y, v> for any v,
// and the kicks of each momentum must be the difference quotient of 2 Re <X, D1 Y - D2 phi> along
// exp(i w T_a) U; of fields at odd sites 2 log|det R1| - 2 log|det R2| at even sites is added, R_i
// what D_i makes at a site of a spinor of this site. The first three are within the solvers'
// tolerances. A determinant below the line alone has D phi = eta, Y = D phi, and the kicks of
// -|D phi|^2.
//
// Of |det D|^(2p) with a fraction p (up to 48 numbers of a field) the text's side is S = <phi, (D
// D^+)^-p phi> with the power of the matrix itself, of M M^+ at odd sites: phi is (D D^+)^(p/2) eta
// to 10 times, and the kicks are difference quotients of -S to 1000 times the error of the rational
// functions.
#pragma once

#include <vector>

#include "tools/oracle/derivative_check.hpp"

namespace vphi::tools {

/// Empty where no level of a trajectory has a determinant.
std::vector<DerivativeRow> check_determinants(const dsl::Resolved& resolved,
                                              const physics::System& system);

}  // namespace vphi::tools
