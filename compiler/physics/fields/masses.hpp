// Linear equations at one site, as of velocities or accelerations by a matrix of masses.
#pragma once

#include <vector>

#include "compiler/algebra/expr.hpp"

namespace vphi::physics {

/// Solves M x = r by elimination, x in place of r. Entries that are 0 stay away, so that fields
/// without common kinetic terms do not meet. Returns the unknown without a pivot, or -1.
int solve_masses(std::vector<std::vector<algebra::Expr>> m, std::vector<algebra::Expr>& r);

}  // namespace vphi::physics
