// Chooses fields to be stored as deviations where the model does not say: in single precision,
// those whose initial values are random numbers about a mean, as far as their equations allow it.
//
// In f32 mean and fluctuation share 24 bits, and such models are about the fluctuation. `store =
// value` on the line of a field turns this off; with `store = deviation` it is an error where it is
// not possible. The remarks say which fields were chosen, and why others were not.
#pragma once

#include "compiler/physics/stages/program.hpp"

namespace vphi::physics {

/// Whether an initial value contains random numbers: random arrays, or random numbers of a kernel.
bool draws(const System& system, Expr value);

/// Adds the chosen fields to Numerics::deviations.
void choose_deviations(const Program& d, System& system);

}  // namespace vphi::physics
