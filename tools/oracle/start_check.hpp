// Compares random initial values (`phi ~ ...`) with the distributions in the text.
//
// The scheduled kernels of the start are run with many seeds; the evaluation of the text makes as
// many values with independent random numbers. The two distributions are compared by their largest
// distance (Kolmogorov and Smirnov), and the rank correlations between variables and between
// neighbours. For vacuum fluctuations the mean over the box must be the homogeneous value, and the
// power of each mode that of docs/formulas.md 1.5.
#pragma once

#include <vector>

#include "tools/oracle/derivative_check.hpp"

namespace vphi::tools {

std::vector<DerivativeRow> check_starts(const dsl::Resolved& resolved,
                                        const physics::System& system);

}  // namespace vphi::tools
