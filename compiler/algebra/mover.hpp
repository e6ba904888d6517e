// Derivatives and stencils whose neighbours are moved by a function of the caller: that of a box
// knows what lies beyond its edges.
#pragma once

#include <functional>

#include "compiler/algebra/stencil.hpp"

namespace vphi::algebra {

/// The expression at the neighbour `offset`.
using Mover = std::function<Expr(Expr, Offset)>;

/// variation of transform.hpp; `move` shifts a derivative back to its site.
Expr variation(Expr density, int array, const Mover& move);
/// written_out of stencil.hpp; `move` gives the argument at each neighbour.
Expr written_out(const StencilData& stencil, Expr argument, Expr dx, const Mover& move);

}  // namespace vphi::algebra
