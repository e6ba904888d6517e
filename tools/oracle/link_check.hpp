// Links that flow or are drawn, against the text.
//
// Flow: the right side is an element of the algebra of the group. The text's is made of differences
// of what its action evaluates to along exp(i w T_a) U; with it are compared the rates as derived,
// and what small steps of the scheduled kernels turn the links by.
//
// Drawn links: whatever the algorithm, links with weight exp(-S) obey, for each link and each
// generator, <(dS/dw)^2 - d^2 S/dw^2> = 0 (integration by parts with an invariant measure). Both
// derivatives are differences of the text's action on links that the scheduled kernels have drawn;
// the mean has to vanish within five standard errors. Links along each axis have to be drawn.
// Overrelaxation has to leave S as it is.
#pragma once

#include <vector>

#include "tools/oracle/derivative_check.hpp"

namespace vphi::tools {

std::vector<DerivativeRow> check_flow(const dsl::Resolved& resolved, const physics::System& system,
                                      const physics::LinkFlow& flow);
std::vector<DerivativeRow> check_chain(const dsl::Resolved& resolved, const physics::System& system,
                                       const physics::MarkovChain& chain);

}  // namespace vphi::tools
