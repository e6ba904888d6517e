// What a spinor gains beyond the ends of an axis.
//
// A spinor goes on beyond the n sites of an axis as psi(x + n) = phase psi(x), whatever is read
// there: a read beyond the last site takes the phase, one before the first its conjugate. Operator,
// adjoint, halves and forces hold only products in which all of these phases belong together.
#pragma once

#include <algorithm>
#include <array>

#include "compiler/algebra/expr.hpp"

namespace vphi::physics {

/// The phase +-exp(i angle).
struct EdgePhase {
  bool turned = false;       ///< the minus of an antiperiodic spinor
  algebra::Expr angle = {};  ///< numbers and swept values; null: 0
  bool one() const { return !turned && !angle; }
  friend bool operator==(const EdgePhase&, const EdgePhase&) = default;
};

/// One for each axis.
using EdgePhases = std::array<EdgePhase, 4>;

inline std::array<bool, 4> turned(const EdgePhases& edges) {
  std::array<bool, 4> all{};
  for (std::size_t axis = 0; axis < edges.size(); ++axis) all[axis] = edges[axis].turned;
  return all;
}
inline bool turns_by_an_angle(const EdgePhases& edges) {
  return std::ranges::any_of(edges,
                             [](const EdgePhase& edge) { return static_cast<bool>(edge.angle); });
}

}  // namespace vphi::physics
