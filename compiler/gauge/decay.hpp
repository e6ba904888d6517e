// Decay rates of small fluctuations of the links in the gradient flow of an action.
//
// About U = 1 a loop changes by its phase, the sum of the w of its links with their signs, and Re
// tr by -W_a W_a/4 (-W^2/2 for U(1)). For plane waves of momentum p the action is then a quadratic
// form in the directions. Under w' = -dS/dw its eigenvectors decay at rates given by its
// eigenvalues. An explicit scheme is stable where dt times the largest of them is below its limit.
#pragma once

#include <optional>

#include "compiler/gauge/action.hpp"

namespace vphi::gauge {

/// The largest eigenvalue over momenta that are multiples of pi/4; nothing where a coefficient is
/// not a number.
std::optional<double> fastest_decay(const Group& group, const LoopAction& action, int dims);

}  // namespace vphi::gauge
