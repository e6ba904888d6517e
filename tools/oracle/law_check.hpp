// Conservation laws as derived and scheduled against the text as written.
//
// On a few cells with random states: the primitive variables that `recover` makes of the densities
// of the text, what a `solve` found put back into its equation, the start, and then the scheme. Of
// a text that ends in `U' = ...` the rates of the System are compared with the text's lines; of one
// that ends in `U = ...` a whole first step of the scheduled kernels, run by the interpreter, with
// the step worked out from the text: half steps, limits, the order of the axes, sources, and what
// leaves an open box.
#pragma once

#include <vector>

#include "tools/oracle/derivative_check.hpp"

namespace vphi::tools {

/// Of a System with conservation laws.
std::vector<DerivativeRow> check_laws(const dsl::Resolved& resolved, const physics::System& system);

}  // namespace vphi::tools
