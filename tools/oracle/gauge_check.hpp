// Compares links that are turned to a gauge, V[mu] = gauge_fixed(U[mu], M), with the text.
//
// Some rounds of the scheduled kernels run from random links. For the g(x) that they have found,
// theta is computed from the text's M: the sum of Re tr M is linear in the matrix that turns one
// site, so its slopes along the generators are differences, without a step. theta of the kernels
// must be this number; the sum must have grown; and each V that was computed must be g U g^+@mu.
#pragma once

#include <vector>

#include "tools/oracle/derivative_check.hpp"

namespace vphi::tools {

std::vector<DerivativeRow> check_gauges(const dsl::Resolved& resolved,
                                        const physics::System& system);

}  // namespace vphi::tools
