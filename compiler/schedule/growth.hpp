// A step that is too large for the fastest rate of the equations.
//
// The equations are linearised about the start, x' = J x: own sites alone, sums over pairs and
// averages held fixed. One step of the integrator's text on them is a linear map M. Where its
// powers grow and those of exp(J dt) do not, dt is beyond the integrator's stability for a mode
// that the equations let decay or swing. For deterministic equations and, with silent noise, for
// noisy ones. Lattices with a stencil have their own bound (physics/stability.cpp). Nothing is
// known where a derivative at the start is no number, or the text cannot be run on linear
// equations.
#pragma once

#include "compiler/physics/system.hpp"
#include "compiler/schedule/integrator.hpp"
#include "dsl/diagnostic.hpp"

namespace vphi::schedule {

/// Warns (W0316) where a step of `system` grows although its equations do not.
void warn_of_growth(const physics::System& system, const dsl::Resolved& resolved,
                    dsl::Diagnostics& diagnostics);

}  // namespace vphi::schedule
