// Equations of a Lagrangian with links against its text.
//
// The momenta of such a System stand in no text. It is followed along its own flow instead: what
// moves, and how fast, at five times that are close together. With p = dL/du' of the text at each
// of them, (a^3 p)' must be a^3 dL/du of the text. A link turns by exp(i w T_a) and carries U'
// along.
#pragma once

#include <vector>

#include "tools/oracle/derivative_check.hpp"

namespace vphi::tools {

/// Whether links of the model move by a `lagrangian`.
bool moves_links_by_text(const dsl::Resolved& resolved);

/// A row for each coordinate, for the momentum of links that the `gauge` line names, for each
/// equation beside the Lagrangian, for a'' and for each output that holds a rate.
std::vector<DerivativeRow> check_lagrangian(const dsl::Resolved& resolved,
                                            const physics::System& system);

}  // namespace vphi::tools
