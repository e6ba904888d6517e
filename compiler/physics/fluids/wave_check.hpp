// Whether waves of conservation laws are waves: velocities of signals that are real, targets that
// damp, and densities that determine the state.
//
// A gas whose pressure falls with its density, and a stress with a negative viscosity, have
// velocities that are not real (signals.hpp): perturbations grow the faster the shorter they are,
// so that no lattice resolves them. Nothing here knows a gas or a viscosity: the eigenvalues say
// it. Terms that damp short waves, such as the diffusion of a mixture that separates, make such
// laws sound; they are left alone.
#pragma once

#include "compiler/physics/fluids/conservation.hpp"
#include "compiler/physics/fluids/fluid_states.hpp"
#include "compiler/physics/fluids/signals.hpp"
#include "dsl/messages/diagnostic.hpp"

namespace vphi::physics {

/// E0848 where velocities are not real at a site of the start, or, where the start is not known, in
/// all random states at rest; W0849 where what relaxes makes signals of matter at rest slower.
void check_waves(const Program& d, const System& system, const Signals& signals,
                 const TrialStates& trials);

/// Ends with what of the laws themselves keeps a recovery from finding this state: densities that
/// are those of two states (E0794), or velocities that are not real at rest (E0848); with
/// `otherwise` where both are in order.
[[noreturn]] void fail_at(const Equations& d, const TrialState& state,
                          const dsl::Diagnostic& otherwise);

}  // namespace vphi::physics
