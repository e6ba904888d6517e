// Markov chains of fields at sites by local updates: `sample metropolis`, `heatbath`, `overrelax`.
//
// An update changes a field at one site with the weight exp(-S), its neighbours fixed, for all
// sites of one colour at a time (site_action.hpp). What an update may be depends on the field and
// on the action, which is known as a function of the value at the site:
//
//   metropolis  a proposal that is as likely as its reverse, accepted with exp(-change of S)
//   heatbath    one of the values of a discrete field, drawn with its weight
//   overrelax   the value at the other side of the conditional distribution, which has the same S:
//               phi - 2 S'/S'' where S is quadratic, the angle mirrored about the local field where
//               S is a cosine of it, a unit vector where S is linear in it
//
// The algebra proves the form that an update needs; where it cannot, the chain is refused with the
// reason (E0771). Fields are updated one after the other, components of a vector together.
#pragma once

#include "compiler/physics/lower/lower.hpp"

namespace vphi::physics {

MarkovChain read_site_sampling(const Motion& d, Lowerer& lower);

}  // namespace vphi::physics
