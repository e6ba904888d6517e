// Equations of a Lagrangian with links, or with the curvature of a metric that follows the
// averages, against its text.
//
// The momenta of links stand in no text, and R holds a'', which holds R. The System is followed
// along its own flow instead: what moves, and how fast, at five times that are close together. With
// p = dL/du' of the text at each of them, (a^3 p)' must be a^3 dL/du of the text. A link turns by
// exp(i w T_a) and carries U' along. R in the text is that of the flow; what it must be follows
// from the constraint, 3 M^2 H^2 = <rho> with rho = rho0 - 6 H (H f + f') of the terms f*R, which
// has to hold along the flow.
#pragma once

#include <vector>

#include "tools/oracle/derivative_check.hpp"

namespace vphi::tools {

/// Whether a `lagrangian` moves links of the model, or holds such an R.
bool follows_flow(const dsl::Resolved& resolved);

/// A row for each coordinate, for the momentum of links that the `gauge` line names, for each
/// equation beside the Lagrangian, for a'' and for each output that holds a rate.
std::vector<DerivativeRow> check_lagrangian(const dsl::Resolved& resolved,
                                            const physics::System& system);

}  // namespace vphi::tools
