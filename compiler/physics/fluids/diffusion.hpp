// The rate at which terms with derivatives damp waves of conservation laws: viscosity, conduction
// of heat, diffusion, resistance.
//
// With densities U(P) of the primitive variables P, what such terms do to a wave exp(i k x) about a
// homogeneous state is (dU/dP) P' = S(k) P, where S(k) is the sum of the derivatives of their
// discrete form by the value in each cell around, times cos(k x) - 1 with x the distance of that
// cell: what is odd in x carries waves and is a signal (signals.hpp). The eigenvalues of
// -(dU/dP)^-1 S(k) are rates, 4 D/dx^2 along each axis for the shortest wave and a diffusion
// constant D. Fluxes of `curl` laws count as they are averaged, which leaves a quarter. The rate is
// that of the wave that is damped fastest, found in a random state.
#pragma once

#include <string>
#include <vector>

#include "compiler/physics/fluids/conservation.hpp"

namespace vphi::physics {

/// Fills Conservation::diffusion with the rate and the names of the laws. Terms of `relax`
/// count where its target has a Laplacian; sources with derivatives in time do not, and no noise
/// does.
void find_diffusion(const Equations& d, Conservation& c);

/// dt times the rate at the start, and an expectation where the rate depends on the state. Its
/// bound belongs to the integrator (schedule/integrator/stability.hpp).
void check_diffusion(const Program& d, System& system);

}  // namespace vphi::physics
