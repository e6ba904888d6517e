// Hybrid Monte Carlo: the momenta, forces and parts of a trajectory of `sample hmc`.
//
// Momenta p_a ~ N(0, 1), one for each generator of each link, H = p_a p_a/2 + S; U' = A U with
// A = i p_a T_a, p_a' = -dS/domega_a = Im tr(T_a U V), V the staple sum of the action
// (compiler/gauge/group.hpp, action.hpp; docs/formulas.md 2.5). A trajectory of length tau is
//   refresh: new momenta, links kept aside; begin: H of each site kept;
//   kicks and drifts, as the levels' integrators say (compiler/schedule/steps/trajectory.hpp);
//   each action is a Trajectory::Level, and those of one `level` follow each other;
//   end: the sum over sites of the change of H, in f64 whatever the fields are; accept or not;
//   close: the new links, brought back into the group, or those that were kept.
// Fields at sites are updated together with links or alone: q' = p, p' = -dS/dq, with a momentum of
// variance 1 for each real component. Where an action contains more than loops times numbers, its
// forces are derivatives of the summed density by the stored numbers. Convention: time is conjugate
// to these p; programs whose generators are lambda_a have twice the velocity. Loops that pass a
// link twice are allowed.
#pragma once

#include <cstdint>

#include "compiler/physics/lower/lower.hpp"

namespace vphi::physics {

/// The steps of a Trajectory::Level whose action is kicked wherever the one before it is, because
/// both stand in one `level`: it has no kicks and drifts of its own.
constexpr std::int64_t kWithLevelBefore = 0;

/// The scalar that says how far links and fields are from the start after a trajectory, its momenta
/// turned, and the trajectory again. Made where an output reads it.
constexpr const char* kReversibility = "reversibility";

/// Whether the model has `sample hmc`.
bool is_hmc(const Context& d);
Trajectory read_hmc(const Motion& d);

}  // namespace vphi::physics
