// Spinors beyond the edges of the box (compiler/model/edge_phase.hpp).
//
// What is stored in arrays takes the phase of an edge where it is read (ProgramUnits). A spinor
// that is written down, a source, has no arrays: it takes the phase where a model shifts it. Which
// of the two a value is follows from how it turns with all spinors in arrays.
#pragma once

#include <optional>

#include "compiler/physics/lower/values.hpp"
#include "compiler/physics/stages/declared.hpp"

namespace vphi::physics {

/// A phase that depends on the site: sign, null: 1, times (cosine, sine), null: 1.
struct SitePhase {
  Expr sign, cosine, sine;
};

/// The phase of a spinor that is read at `offset`. A shift of q*n + r sites crosses the edge q
/// times, and once more from the last r sites.
SitePhase phase_beyond(const Setting& d, const EdgePhases& edges, const algebra::Offset& offset);

/// The part that an array is of a spinor, of state or solved for; nothing of other arrays.
std::optional<SpinorPart> spinor_part(const Declared& d, int array);

/// How often a value turns where every spinor in arrays is multiplied by exp(i angle): 1 for psi,
/// -1 for conj(psi), 0 for numbers and sources; nothing for a sum of such. Where `signs`, the
/// angle is pi, and the result 1 or 0. Sums and means over the lattice count as numbers.
std::optional<int> turns_with_spinors(const Declared& d, const Value& v, bool signs);

/// Whether a number at each site differs from itself one box further along some axis, where the
/// spinors in it have their phases: psi, but neither norm2(psi) nor exp(-1i*theta*index(x)/L)*psi.
/// Conditions are taken to be those of the box.
bool gains_phase(const Declared& d, Expr e);

/// Whether it does where it reads spinors at neighbours, itself or under a sum over the lattice:
/// its derivative by a spinor is then no sum of neighbours with their phases.
bool couples_with_phase(const Declared& d, Expr e);

}  // namespace vphi::physics
