// How numbers are stored, added and drawn, and what lies beyond the edges of the box: terms that
// physics, kernels and printers share.
#pragma once

#include <map>

#include "dsl/syntax/text.hpp"
#include "program/precision.hpp"

namespace vphi::physics {

enum class Boundary { Periodic, Antiperiodic, Fixed, Neumann, Outflow, Absorbing };

using program::Precision;
/// Of random numbers (kernel/draw.hpp).
enum class Generator { Philox10, Philox7, Xorshift32 };
enum class SumKind { Plain, Kahan, Pairwise, F64 };

struct Numerics {
  Precision real = Precision::F64;  ///< arithmetic and storage of fields
  Precision store = Precision::F64;
  Precision pair = Precision::F64;  ///< of the terms of sums over pairs
  SumKind sum = SumKind::F64;
  std::map<int, Precision> stores = {};  ///< array of state -> its memory, where not `store`
  /// Arrays of state that hold deviations from a scalar, and where the model says so.
  std::map<int, dsl::Span> deviations = {};
};

}  // namespace vphi::physics
