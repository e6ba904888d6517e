// Families of models that this version resolves but does not run.
#pragma once

#include "dsl/resolve.hpp"

namespace vphi::dsl {

/// Fills Resolved::later_families, one sentence for each family that the model uses.
void find_later_families(Resolved& resolved);

}  // namespace vphi::dsl
