// Rounds of updates of sites, colour after colour, in place of the rounds of a linear solver
// (compiler/physics/chains/gauge_fixing.hpp).
//
// A round is a few sweeps of one kernel over the sites of a colour, launched once for each colour,
// and a sum of what the updates make small. The rounds end where its mean is at most the bound; an
// instance that is done stays as it is. `iterations` counts sweeps, `residual` is the mean. Nothing
// here can fail.
#pragma once

#include "compiler/physics/chains/gauge_fixing.hpp"
#include "compiler/schedule/solver/solver.hpp"

namespace vphi::schedule {

SolveLoops make_relaxation(const physics::System& system, const physics::LinearSystem& solve,
                           const physics::Relaxation& relaxation, const Stepping& stepping,
                           Slots& slots, Storage& storage);

}  // namespace vphi::schedule
