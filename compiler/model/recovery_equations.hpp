// The equations of `solve` that a model's recovery leaves to iterations, one by one.
#pragma once

#include <utility>
#include <vector>

#include "compiler/model/system.hpp"

namespace vphi::physics {

/// x - g(x) of each component of a name that `solve` finds, by the array of its x, as functions of
/// quantities and recovered values; empty where the equation has a closed form.
std::vector<std::pair<int, Expr>> equations_of(const Conservation::Solved& solved);

}  // namespace vphi::physics
