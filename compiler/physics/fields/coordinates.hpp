// Volumes, faces and rates of the coordinates of fields and conservation laws, in units of dx:
// those of `metric scale(h1, h2, h3)`, or for laws an expanding box, whose three scale factors are
// a.
//
// A cell reaches half a step to both sides of its site. Means over a cell or a face are Simpson's,
// which is exact for the volumes of cylinders and shells of a sphere. The volume of a cell, the
// area of a face and the change of scale factors across a cell are made of the same numbers, so
// that uniform pressure on the faces of a cell balances to rounding.
#pragma once

#include "compiler/physics/stages/equations.hpp"

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

/// The lengths of an expanding box, a along each of three axes.
Coordinates expanding_box(const Space& d);
/// A stage as conservation laws see it: in an expanding box `coordinates` has the box. Laws are in
/// physical units, and their expressions hold no `a` of t and no `H` that are converted later.
template <class Stage>
Stage as_laws_see_it(Stage d) {
  if (d.expanding() && !d.coordinates.given()) d.coordinates = expanding_box(d);
  return d;
}
/// `metric scale`, in which fields live as well as laws; an expanding box has derivatives by the
/// coordinates, and `a` in front of them.
bool curvilinear(const Space& d);
/// The mean of a density over the volume: over the sites, whose cells are equal without scale
/// factors that change across the box.
Expr mean_over_volume(const Space& d, Expr density);
/// What `metric scale` does not take: E0901 at the first of it.
void refuse_in_coordinates(const Equations& d);
/// a and H as names of a text stand for them: symbols, or for laws what these are, expressions of t
/// or of the scalars that follow the averages.
Expr named_scale(const Space& d);
Expr named_hubble(const Space& d);
/// The expression with these in place of the symbols.
Expr with_named_background(const Space& d, Expr e);

}  // namespace vphi::physics
