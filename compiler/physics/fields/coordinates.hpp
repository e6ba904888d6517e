// Volumes, faces and rates of `metric scale(h1, h2, h3)`, in units of dx.
//
// A cell reaches half a step to both sides of its site. Means over a cell or a face are Simpson's,
// which is exact for the volumes of cylinders and shells of a sphere. The volume of a cell, the
// area of a face and the change of scale factors across a cell are made of the same numbers, so
// that uniform pressure on the faces of a cell balances to rounding.
#pragma once

#include "compiler/physics/stages/space.hpp"

namespace vphi::physics {

/// h1*h2*h3, the mean over a cell.
Expr cell_volume(const Space& d);
/// The product of all factors but that of `axis`, the mean over the face towards the next site.
Expr face_area(const Space& d, int axis);
/// Area of the same face over the scale factor of `axis` there: what a difference between the two
/// sites is multiplied by in a Laplacian.
Expr face_over_length(const Space& d, int axis);
/// (d h_k/dx_i) times the factors other than h_k and h_i, the mean over a cell and times dx: what
/// changes in the area of the faces across axis i because of h_k. The sum over k is the difference
/// between the two faces.
Expr widening(const Space& d, int factor, int axis);
/// d(ln h_k)/dt at a site.
Expr stretching(const Space& d, int factor);

}  // namespace vphi::physics
