// Flows of links: `U' = -d(S, U)`, equations of first order whose right side is in the algebra.
//
// d(S, U) is the gradient of an action of loops on the group: with S(w) the action after
// U -> exp(i w_a T_a) U of one link, the element i T_a dS/dw_a of its algebra (T_a and the staples
// behind it: compiler/gauge/group.hpp, action.hpp). U' = A stands for dU/dt = A U. A right side is
// a sum of gradients times numbers; written for a direction, `U[mu]' = ...`, it may also carry
// gradients along links, and what of it lies in the algebra counts. With S = 2*sum(n - re(tr(P))),
// which is g^2 times Wilson's action, U' = -d(S, U) is the flow of Luescher, JHEP 08 (2010) 071.
//
// A System carries a flow as the updates of a Sampling, by their place; `link_flow_of` alone knows
// how. Right sides that are nothing of that kind fail with E0778.
#pragma once

#include <optional>
#include <vector>

#include "compiler/physics/lower.hpp"

namespace vphi::physics {

struct LinkFlow {
  /// Gradients that right sides read at neighbours: arrays of their own. May be empty.
  std::vector<Update> gradients;
  /// For each axis that moves: coordinates z_a of A = i z_a T_a, under the numbers that `moves`
  /// know them by.
  std::vector<Update> rates;
  /// Of the same axes, links that have gone along A: exp(i z_a T_a) U, brought back into the group;
  /// z_a as Loads of numbers that have no memory.
  std::vector<Update> moves;
};

/// Whether links have an equation of their own.
bool flows(const Derivation& d);
/// Links have rates in their algebra; their numbers in memory have none.
void prepare_link_flow(Derivation& d);
/// Puts the flow into d.system.
void read_link_flow(Derivation& d, Lowerer& lower);
/// Nothing where links do not flow.
std::optional<LinkFlow> link_flow_of(const System& system);

}  // namespace vphi::physics
