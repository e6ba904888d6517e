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

/// The transposed derivative of V = projected(M): numbers f_a become K with
///   f_a v_a = Re tr(K dM),   dV V^-1 = i v_a T_a.
/// With M = W H, W unitary, and X = W^+ dW: X H + H X = W^+ dM - (W^+ dM)^+, an equation of
/// Sylvester's whose solution is its own transpose. It is solved without eigenvalues, by the
/// characteristic polynomial of H. `v`: projected(M), which gives H and the phase of W.
Matrix carried_projection(const Group& group, const Matrix& m, const Matrix& v,
                          std::span<const Expr> f);

}  // namespace vphi::gauge
