// Chooses fields to be stored as deviations where the model does not say: in single precision,
// those whose initial values are random numbers about a mean, as far as their equations allow it.
//
// In f32 mean and fluctuation share 24 bits, and such models are about the fluctuation. `store =
// value` on the line of a field turns this off; with `store = deviation` it is an error where it is
// not possible. The remarks say which fields were chosen, and why others were not.
#pragma once

#include <map>
#include <string>

#include "compiler/physics/stages/program.hpp"

namespace vphi::physics {

/// Whether an initial value contains random numbers: random arrays, or random numbers of a kernel.
bool draws(const System& system, Expr value);

/// An array of f32 that starts as random numbers about a mean and is stored as its value.
struct StoredAsValue {
  bool said = false;    ///< by `store = value` on the field's line
  std::string refused;  ///< why a deviation is not possible; empty: it is
};

/// Adds the chosen fields to Numerics::deviations; returns those that stay as they are, by their
/// arrays.
std::map<int, StoredAsValue> choose_deviations(const Program& d, System& system);

}  // namespace vphi::physics
