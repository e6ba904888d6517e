// All expressions of a system, for what rewrites them.
#pragma once

#include <functional>

#include "compiler/model/system.hpp"

namespace vphi::physics {

/// Every expression that a kernel or a scalar is made of.
void for_each_expression(System& system, const std::function<void(Expr&)>& see);

}  // namespace vphi::physics
