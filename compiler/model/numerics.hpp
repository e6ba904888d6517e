// Numerical choices that physics, kernels and printers share: boundaries, precision, summation and
// random number generators.
#pragma once

#include <map>

#include "dsl/syntax/text.hpp"
#include "program/precision.hpp"

namespace vphi::physics {

enum class Boundary { Periodic, Antiperiodic, Fixed, Neumann, Outflow, Absorbing };

using program::Precision;
/// Generators of random numbers (kernel/draw.hpp).
enum class Generator { Philox10, Philox7, Xorshift32 };
enum class SumKind { Plain, Kahan, Pairwise, F64 };

struct Numerics {
  Precision real = Precision::F64;  ///< arithmetic and storage of fields
  Precision store = Precision::F64;
  Precision pair = Precision::F64;  ///< precision of the terms of sums over pairs
  SumKind sum = SumKind::F64;
  /// Array of state -> its precision in memory, where it is not `store`.
  std::map<int, Precision> stores = {};
  /// Arrays of state that hold deviations from a scalar, with the place in the model that says so.
  std::map<int, dsl::Span> deviations = {};
};

}  // namespace vphi::physics
