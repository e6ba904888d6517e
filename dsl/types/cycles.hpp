// Cycles of definitions.
#pragma once

#include <vector>

#include "dsl/resolve.hpp"

namespace vphi::dsl {

/// Reports every cycle (E0102), and returns the definitions in an order in which each comes after
/// those that it uses. Variables of the state end a chain of dependences.
std::vector<const Symbol*> order_definitions(Resolved& resolved);

}  // namespace vphi::dsl
