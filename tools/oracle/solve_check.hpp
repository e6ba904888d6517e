// Compares linear systems `solve(A, b)` with the text: x from the scheduled kernels is inserted
// into A and b of the text. The largest |A x - b| over the largest |b| must be within the solver's
// tolerance. Of several systems with one operator (the columns of a propagator) the first is
// solved. Those of determinants in trajectories are compared in determinant_check.hpp.
#pragma once

#include <vector>

#include "tools/oracle/derivative_check.hpp"

namespace vphi::tools {

std::vector<DerivativeRow> check_solves(const dsl::Resolved& resolved,
                                        const physics::System& system);

}  // namespace vphi::tools
