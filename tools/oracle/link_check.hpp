// Compares flows and Markov chains of links with the text of the model.
//
// Flow: the right side is an element of the algebra of the group. From the text it is computed by
// difference quotients of its action along exp(i w T_a) U. It is compared with the derived rates,
// and with the change of the links in small steps of the scheduled kernels.
//
// Markov chain: for every algorithm, links with the weight exp(-S) obey <(dS/dw)^2 - d^2 S/dw^2> =
// 0 for each link and each generator (integration by parts with an invariant measure). Both
// derivatives are difference quotients of the text's action on links from the scheduled kernels;
// the mean must vanish within five standard errors. Links along each axis must change.
// Overrelaxation must not change S.
#pragma once

#include <vector>

#include "tools/oracle/derivative_check.hpp"

namespace vphi::tools {

std::vector<DerivativeRow> check_flow(const dsl::Resolved& resolved, const physics::System& system,
                                      const physics::LinkFlow& flow);
std::vector<DerivativeRow> check_chain(const dsl::Resolved& resolved, const physics::System& system,
                                       const physics::MarkovChain& chain);

}  // namespace vphi::tools
