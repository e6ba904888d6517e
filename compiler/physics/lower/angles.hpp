// Angles on a lattice: differences of neighbours are taken modulo the period.
//
// A variable of type `angle` is kept between 0 and its period P, so the difference of two
// neighbours jumps by P where one of them passes the end of the period. The differences are
// therefore wrapped,
//   wrap(d) = d + P*floor(1/2 - d/P)   in (-P/2, P/2],
// and every linear operator whose weights add up to 0 is a sum of such differences to the site.
// The derivative of the floor is 0: the force of a wrapped gradient energy is the wrapped
// Laplacian. `check_angles` refuses equations that still depend on the jump.
#pragma once

#include "compiler/algebra/stencil.hpp"
#include "compiler/physics/stages/equations.hpp"

namespace vphi::physics {

/// x plus the multiple of the period that brings it into (-period/2, period/2].
Expr wrapped(Expr x, Expr period);

/// The Laplacian of the lattice applied to any expression; for an angle, with wrapped differences.
Expr laplacian(const Space& d, Expr e);
/// (e(x + k) - e(x - k))/(2 dx), both halves wrapped where e is an angle.
Expr slope_along(const Space& d, Expr e, int axis);
/// u(x + offset) - u(x) of one real array.
Expr difference(const Space& d, int array, algebra::Offset offset);
/// |grad u|^2 that belongs to the Laplacian, with the spacing `dx` in the unit of length of the
/// arrays: sum_i w_i (u(x + o_i) - u(x))^2/(2 dx^2), w_i the weights of the Laplacian.
Expr gradient_square(const Space& d, int array, Expr dx,
                     algebra::Pairs pairs = algebra::Pairs::Both);
/// The angle that this Load reads; null where it reads no angle.
const StateField* angle_of(const Space& d, Expr load);

/// E0769 where the rate of a variable is not the same after an angle has grown by one period.
void check_angles(const Equations& d);

}  // namespace vphi::physics
