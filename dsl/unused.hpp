// Definitions, parameters and drawn numbers that nothing names.
//
// `seed = 3` is a definition like any other: it looks like a setting and changes nothing. Sweep
// axes are not reported: one that nothing names is an ensemble.
#pragma once

#include "dsl/resolve.hpp"

namespace vphi::dsl {

/// Warns (W0102) of each name that the model defines and never uses, where it has no errors.
void warn_of_unused(Resolved& resolved);

}  // namespace vphi::dsl
