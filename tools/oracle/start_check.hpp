// Drawn starts (`phi ~ ...`) against the distributions that the text names.
//
// The run's random numbers go through the scheduled kernels of the start, seed after seed; as many
// values are drawn by the text with numbers of its own. Compared are the two distributions (their
// largest distance, after Kolmogorov and Smirnov) and the correlations of ranks between variables
// and between neighbours. Of vacuum fluctuations the mean over the box is the value beside them,
// and the power of each mode is that of docs/formulas.md 1.5, on a box of its own size.
#pragma once

#include <vector>

#include "tools/oracle/derivative_check.hpp"

namespace vphi::tools {

std::vector<DerivativeRow> check_starts(const dsl::Resolved& resolved,
                                        const physics::System& system);

}  // namespace vphi::tools
