// Finds a step that is too large for the fastest rate of the equations.
//
// The equations are linearised about initial states, x' = J(k) x for plane waves exp(i k x), for k
// = 0 and the k of the lattice at which J is largest. Sums over pairs and averages are held fixed.
// One step of the integrator's text is then a linear map M. If the powers of M grow and those of
// exp(J dt) do not, dt is above the stability limit for a mode that decays or oscillates in the
// exact equations. This holds for deterministic equations and, with the noise set to 0, for noisy
// ones. Waves under an integrator with a limit are checked in stability.hpp; decays and integrators
// under which all waves grow are checked here. There is no result where a derivative at the start
// is not a constant, or the text cannot be run on linear equations.
#pragma once

#include "compiler/model/system.hpp"
#include "dsl/messages/diagnostic.hpp"

namespace vphi::schedule {

/// Warns (W0316) where a step of `system` grows although its equations do not, and fills
/// System::step_growth.
void warn_of_growth(physics::System& system, dsl::Diagnostics& diagnostics);

}  // namespace vphi::schedule
