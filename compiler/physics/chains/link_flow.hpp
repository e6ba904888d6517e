// Flows of links: `U' = -d(S, U)`, equations of first order whose right side is in the algebra.
//
// d(S, U) is the gradient of an action of loops on the group. With S(w) the action after U -> exp(i
// w_a T_a) U of one link, it is the element i T_a dS/dw_a of the algebra (T_a:
// compiler/gauge/group.hpp; staples: compiler/gauge/action.hpp). U' = A stands for dU/dt = A U. A
// right side is a sum of gradients times numbers; written for a direction, `U[mu]' = ...`, it may
// also transport gradients along links. It is projected onto the algebra. With S = 2*sum(n -
// re(tr(P))), which is g^2 times Wilson's action, U' = -d(S, U) is the flow of Luescher, JHEP 08
// (2010) 071.
//
// Any other right side is an error (E0778).
#pragma once

#include "compiler/physics/lower/lower.hpp"

namespace vphi::physics {

/// Whether the model has an equation for links.
bool flows(const Declared& d);
/// The fields of a flow. Links have rates in their algebra, so their stored numbers have no rates
/// of their own.
std::vector<StateField> flowing_fields(const Declared& d);
/// The flow of links, with the integrator and step of `evolve`.
Dynamics read_link_flow(const Motion& d);

}  // namespace vphi::physics
