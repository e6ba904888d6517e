// The force of a functional of the fields: its derivative by one real array at one site, exactly
// that of the sums over the lattice that outputs show.
//
// Neighbours, stencils and sums over pairs are algebra::variation's. Here come in
// * |grad u|^2 (gradient_of): with C(x) the coefficient of |grad u|^2 at x and w_i the Laplacian's
//   weights, the derivative of sum_x C(x) sum_i w_i (u(x + o_i) - u(x))^2/(2 dx^2) is
//     -sum_i w_i (C(x) + C(x + o_i)) (u(x + o_i) - u(x))/dx^2,   -2 C lap(u) for a uniform C;
// * averages A = <g> that the functional depends on: by the chain rule, <dF/dA> dg/du.
#pragma once

#include "compiler/physics/stages/space.hpp"

namespace vphi::physics {

/// A density is summed over the sites, what is the same at all of them included; a number is a
/// function of totals and means.
enum class Functional { Density, Number };

/// d/du(x) of the functional, u being `array`. `span`: of its text, for messages.
Expr variation(const Space& d, Expr functional, Functional kind, int array, dsl::Span span);

/// Terms of a force get the text of the term of the density that they come from, if they are not
/// older than `since` (Arena::size before the variation) or remember no text.
void mark_origins(const Space& d, Expr force, Expr density, int array, dsl::Span span,
                  std::size_t since);

}  // namespace vphi::physics
