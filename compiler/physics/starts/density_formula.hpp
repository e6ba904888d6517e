// Expressions as formulas that the host evaluates at run time (program/formula.hpp).
#pragma once

#include <optional>
#include <vector>

#include "compiler/algebra/expr.hpp"
#include "program/formula.hpp"

namespace vphi::physics {

/// The expression as a formula of these symbols, its inputs in their order; nothing where it holds
/// another leaf than them and numbers, or an operation that needs a lattice.
std::optional<program::Formula> formula_of(algebra::Expr e,
                                           const std::vector<algebra::Expr>& inputs);

}  // namespace vphi::physics
