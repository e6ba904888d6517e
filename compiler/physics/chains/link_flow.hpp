// Flows of links: `U' = -d(S, U)`, equations of first order whose right side is in the algebra.
//
// d(S, U) is the gradient of an action of loops on the group: with S(w) the action after
// U -> exp(i w_a T_a) U of one link, the element i T_a dS/dw_a of its algebra (T_a and the staples
// behind it: compiler/gauge/group.hpp, action.hpp). U' = A stands for dU/dt = A U. A right side is
// a sum of gradients times numbers; written for a direction, `U[mu]' = ...`, it may also carry
// gradients along links, and what of it lies in the algebra counts. With S = 2*sum(n - re(tr(P))),
// which is g^2 times Wilson's action, U' = -d(S, U) is the flow of Luescher, JHEP 08 (2010) 071.
//
// Right sides of another kind fail with E0778.
#pragma once

#include "compiler/physics/lower/lower.hpp"

namespace vphi::physics {

/// Whether links have an equation of their own.
bool flows(const Declared& d);
/// Links have rates in their algebra; their numbers in memory have none.
std::vector<StateField> flowing_fields(const Declared& d);
/// The flow in the place of the evolution that `evolve` describes.
Dynamics read_link_flow(const Motion& d);

}  // namespace vphi::physics
