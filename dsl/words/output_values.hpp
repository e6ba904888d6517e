// Names of outputs in `plot` and `expect`: `at end: M = mean(x^2) -> "a.h5"`, `expect M < 1`.
#pragma once

#include "dsl/resolve.hpp"

namespace vphi::dsl {

/// In `plot` and `expect` the name of an output stands for its expression and is replaced by it,
/// so that both say the same. A name that the model, a clause or `std` gives another meaning keeps
/// that. E0119 where the name does not say which value is meant. To be called when the symbols are
/// known and before anything is inferred: it changes `resolved.model`.
void spell_out_outputs(Resolved& resolved);

}  // namespace vphi::dsl
