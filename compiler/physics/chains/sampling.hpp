// Markov chains: the updates of links from `action` and `sample` (docs/formulas.md 2.1 to 2.4).
//
// An action is read as a sum of traces of loops (loop_actions.hpp). The staple of a link, the links
// that may be updated at the same time, and the distribution of a new link follow from the loops
// (compiler/gauge). All actions are added; the weight is exp(-S) with S summed over the sites, in
// units of the lattice.
#pragma once

#include "compiler/physics/lower/lower.hpp"

namespace vphi::physics {

/// Whether the model has `sample`: a Markov chain, or a measurement of a configuration.
bool samples(const Context& d);
/// The fields of a chain. They are updated by the chain and have no equations of motion.
std::vector<StateField> sampled_fields(const Declared& d);
/// The chain; without updates for a measurement.
Dynamics read_sampling(const Motion& d);

}  // namespace vphi::physics
