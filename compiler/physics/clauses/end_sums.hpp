// Sums over the box at ends beyond which a field goes on with images of its own sites (`neumann`,
// `outflow`).
//
// Equations are derived from a sum for the inside, and an end gives their neighbours. Whether the
// sum over the box has the same derivative there depends on its terms: differences of neighbours
// have it, products do not. The check is by numbers: random fields on a short row, the derivative
// of the sum against the equation of the inside.
#pragma once

#include "compiler/physics/stages/declared.hpp"

namespace vphi::physics {

/// E0330: at an end of a field the derivative of the sum is not what is derived for the inside.
void check_end_sums(const Declared& d, Expr density, dsl::Span span);

}  // namespace vphi::physics
