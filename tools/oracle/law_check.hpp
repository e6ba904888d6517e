// Compares derived and scheduled conservation laws with the text of the model.
//
// On a few cells with random states it compares the primitive variables that `recover` computes
// from the densities of the text, the residual of the equation of `solve`, the initial values, and
// the scheme. For a scheme that ends with `U' = ...` these are the rates of the System and the
// lines of the text. For one that ends with `U = ...` it is a whole first step of the scheduled
// kernels, run by the interpreter, and the step computed from the text: half steps, limits, the
// order of the axes, sources, and the amount that leaves an open box.
#pragma once

#include <vector>

#include "tools/oracle/derivative_check.hpp"

namespace vphi::tools {

/// The rows for a System with conservation laws.
std::vector<DerivativeRow> check_laws(const dsl::Resolved& resolved, const physics::System& system);

}  // namespace vphi::tools
