// The force of a functional of the fields: its derivative by one real array at one site. It is the
// exact derivative of the lattice sums that outputs show.
//
// algebra::variation handles neighbours, stencils and sums over pairs. This function adds * |grad
// u|^2 (gradient_of): with C(x) the coefficient of |grad u|^2 at x and w_i the Laplacian's
//   weights, the derivative of sum_x C(x) sum_i w_i (u(x + o_i) - u(x))^2/(2 dx^2) is
//     -sum_i w_i (C(x) + C(x + o_i)) (u(x + o_i) - u(x))/dx^2,   -2 C lap(u) for a uniform C;
// * averages A = <g> that the functional depends on: by the chain rule, <dF/dA> dg/du.
#pragma once

#include "compiler/algebra/mover.hpp"
#include "compiler/physics/stages/space.hpp"

namespace vphi::physics {

/// A Density is summed over the sites, uniform terms included. A Number is a function of totals and
/// means.
enum class Functional { Density, Number };

/// d/du(x) of the functional, where u is `array`. `span`: its place in the model, for messages.
Expr variation(const Space& d, Expr functional, Functional kind, int array, dsl::Span span);

/// The expression with stencils of anything but an array replaced by stencils of arrays or by
/// neighbours, as `move` gives them.
Expr applied(Arena& arena, Expr e, const algebra::Mover& move);

/// Gives each term of a force the span of the term of the density that it comes from. Nodes older
/// than `since` (Arena::size before the variation) keep a span that they have.
void mark_origins(const Space& d, Expr force, Expr density, int array, dsl::Span span,
                  std::size_t since);

}  // namespace vphi::physics
