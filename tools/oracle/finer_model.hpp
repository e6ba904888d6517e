// The same model with a finer time step: for orders and error estimates.
//
// The text of `dt = ...` in the evolve clause is divided by a whole number. With `fixed_end` the
// clause's `until` goes, so that runs of different steps can end at one time; their number of steps
// is then the caller's, and every precision is f64, so that rounding hides no order. Outputs every
// N steps are the caller's too, and random initial values do not depend on the step.
#pragma once

#include <memory>
#include <string>

#include "tools/model_copy.hpp"

namespace vphi::tools {

/// Null where the model has no `dt`.
std::unique_ptr<ModelCopy> finer_model(const std::string& path, int parts, bool fixed_end = false);

}  // namespace vphi::tools
