// Which fields are stored as deviations without a word of the model: in single precision those that
// start as random numbers about a mean, as far as their equations allow it.
//
// In f32 mean and fluctuation share 24 bits, and the fluctuation is what such a model is about.
// `store = value` on the line of a field leaves it as it is, `store = deviation` makes a refusal an
// error. What was chosen and why another field was not is among the remarks.
#pragma once

#include "compiler/physics/stages/program.hpp"

namespace vphi::physics {

/// Random numbers of the start in a value: arrays that are drawn, and draws of a kernel.
bool draws(const System& system, Expr value);

/// Adds to Numerics::deviations.
void choose_deviations(const Program& d, System& system);

}  // namespace vphi::physics
