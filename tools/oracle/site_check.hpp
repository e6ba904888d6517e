// Compares Markov chains of fields at sites with the text of the model.
//
// For every algorithm, fields with the weight exp(-S) obey identities at each site. With a
// direction w in which the value moves (a component, an angle, a rotation of a vector with a norm)
//   <g dS/dw - dg/dw> = 0
// (integration by parts) for g = dS/dw, for 1, and for the derivative of a product with each
// neighbour. For discrete values let s' be s with another value at the site and D = S(s') - S(s).
// The states s and s' have the weights exp(-S), so that
//   <t/(1 + exp(D))> = 0   with t = tanh(D/2), or t = 1 where the value rises and -1 where it falls,
// also times the value of each neighbour. S is that of the text, on states from the scheduled
// kernels; each mean must vanish within five standard errors. Every component must change, values
// must be those allowed. Overrelaxation must not change S.
#pragma once

#include <vector>

#include "tools/oracle/derivative_check.hpp"

namespace vphi::tools {

std::vector<DerivativeRow> check_site_chain(const dsl::Resolved& resolved,
                                            const physics::System& system,
                                            const physics::MarkovChain& chain);

}  // namespace vphi::tools
