// Markov chains: `action` and `sample` become updates of links (docs/formulas.md 2.1 to 2.4).
//
// An action is read once with every closed path of links as a name of its own: a sum of traces of
// loops, whose coefficients are all that the rest needs to know of it. The staple of a link, which
// links may change at once, and what is drawn follow from the loops (compiler/gauge). All actions
// are added; the weight is exp(-S) with S summed over the sites, in units of the lattice.
#pragma once

#include "compiler/physics/lower/lower.hpp"

namespace vphi::physics {

/// Whether the model is a Markov chain, or a measurement.
bool samples(const Context& d);
/// Fields of a chain: each is drawn anew, none has an equation of motion.
std::vector<StateField> sampled_fields(const Declared& d);
/// The chain, or what is measured.
Dynamics read_sampling(const Motion& d);

}  // namespace vphi::physics
