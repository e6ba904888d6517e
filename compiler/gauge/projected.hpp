// The projection of any matrix onto its gauge group: smeared links are projected sums of paths.
//
// With the polar decomposition M = W (M^+ M)^(1/2), W unitary, the projection is W/det(W)^(1/n):
// the unitary matrix nearest to M, turned to the determinant 1. It does not depend on the gauge:
// project(g M h) = g project(M) h. Nothing here branches at run time.
#pragma once

#include "compiler/gauge/group.hpp"

namespace vphi::gauge {

/// Whether the group has a projection: U(1), SU(2), SU(3).
bool has_projection(const Group& group);

/// The projection of a matrix whose determinant is not 0; else NaN. det(W)^(1/n) is the root whose
/// phase is in (-pi/n, pi/n].
Matrix projected(const Group& group, const Matrix& m);

}  // namespace vphi::gauge
