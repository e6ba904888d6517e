// The same model with a finer time step: for orders and error estimates.
//
// The value of `dt = ...` in the evolve clause is divided by an integer. With `fixed_end` the
// clause's `until` is removed, so that runs with different steps can end at one time: the caller
// sets the number of steps. Every precision is then f64, so that rounding does not hide the order.
// Random initial values do not depend on the step.
#pragma once

#include <memory>
#include <string>

#include "tools/model_copy.hpp"

namespace vphi::tools {

/// Null where the model has no `dt`.
std::unique_ptr<ModelCopy> finer_model(const std::string& path, int parts, bool fixed_end = false);

}  // namespace vphi::tools
