// Finds definitions, parameters and random numbers that are not used.
//
// `seed = 3`, for example, is a definition: it looks like a setting but has no effect. Sweep axes
// are not reported: an unused one is an ensemble.
#pragma once

#include "dsl/resolve.hpp"

namespace vphi::dsl {

/// Warns (W0102) of each name that the model defines and never uses, where it has no errors.
void warn_of_unused(Resolved& resolved);

}  // namespace vphi::dsl
