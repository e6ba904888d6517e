// Cycles of definitions.
#pragma once

#include <vector>

#include "dsl/resolve.hpp"

namespace vphi::dsl {

/// Reports every cycle (E0102) and returns the definitions in an order in which each comes after
/// what it needs. State ends a chain of dependences: it may depend on itself through time.
std::vector<const Symbol*> order_definitions(Resolved& resolved);

}  // namespace vphi::dsl
