// Names of outputs in `plot` and `expect`: `at end: M = mean(x^2) -> "a.h5"`, `expect M < 1`.
#pragma once

#include "dsl/resolve.hpp"

namespace vphi::dsl {

/// Replaces the names of outputs in `plot` and `expect` by their expressions. A name with another
/// meaning in the model, a clause or `std` is not replaced. E0119 where a name is ambiguous. Must
/// be called after the symbols are collected and before types are inferred, because it changes
/// `resolved.model`.
void spell_out_outputs(Resolved& resolved);

}  // namespace vphi::dsl
