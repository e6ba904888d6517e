// Linear systems `solve(A, b)` against the text: x as the scheduled kernels find it, put into A and
// b as the text says them. The largest |A x - b| over the largest |b| is what the solver's
// tolerance allows. Of systems with one operator (the columns of a propagator) the first is solved.
#pragma once

#include <vector>

#include "tools/oracle/derivative_check.hpp"

namespace vphi::tools {

std::vector<DerivativeRow> check_solves(const dsl::Resolved& resolved,
                                        const physics::System& system);

}  // namespace vphi::tools
