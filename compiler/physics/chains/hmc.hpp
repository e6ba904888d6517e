// Hybrid Monte Carlo: `sample hmc` becomes momenta, forces and the parts of a trajectory.
//
// Momenta p_a ~ N(0, 1), one for each generator of each link, H = p_a p_a/2 + S; U' = A U with
// A = i p_a T_a, p_a' = -dS/domega_a = Im tr(T_a U V), V the staple sum of the action
// (compiler/gauge/group.hpp, action.hpp; docs/formulas.md 2.5). A trajectory of length tau is
//   refresh: new momenta, links kept aside; begin: H of each site kept;
//   kicks and drifts, as the levels' integrators say (compiler/schedule/steps/trajectory.hpp);
//   end: the sum over sites of the change of H, in f64 whatever the fields are; accept or not;
//   close: the new links, brought back into the group, or those that were kept.
// Fields at sites move beside links or alone: q' = p, p' = -dS/dq, one momentum of variance 1 for
// each real component. Where an action holds more than loops times numbers, its forces are
// derivatives of the density by what is stored, neighbours counted. Conventions: time is that of
// these p; codes whose generators are lambda_a have twice the velocity. Loops that pass a link
// twice have a force as any other.
#pragma once

#include "compiler/physics/lower/lower.hpp"

namespace vphi::physics {

/// Whether the chain is one of trajectories.
bool is_hmc(const Context& d);
Trajectory read_hmc(const Motion& d);

}  // namespace vphi::physics
