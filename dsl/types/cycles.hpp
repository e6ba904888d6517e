// Cycles of definitions.
#pragma once

#include <vector>

#include "dsl/resolve.hpp"

namespace vphi::dsl {

/// Reports every circle (E0102) and returns the definitions in an order in which each comes after
/// what it needs. State has no edges: what evolves may depend on itself through time.
std::vector<const Symbol*> order_definitions(Resolved& resolved);

}  // namespace vphi::dsl
