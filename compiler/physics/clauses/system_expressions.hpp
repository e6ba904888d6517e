// Access to all expressions of a system, for code that rewrites them.
#pragma once

#include <functional>

#include "compiler/model/system.hpp"

namespace vphi::physics {

/// Calls `see` with every expression that enters a kernel or a scalar.
void for_each_expression(System& system, const std::function<void(Expr&)>& see);

}  // namespace vphi::physics
