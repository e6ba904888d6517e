// Shifts around a closed axis.
#pragma once

#include <cstdint>

namespace vphi::physics {

/// A shift by times*n + rest sites, 0 <= rest < n, crosses the end of an axis of n sites `times`
/// times, and once more from its last `rest` sites.
struct Turns {
  std::int64_t times, rest;
};

constexpr Turns turns_of(std::int64_t shift, std::int64_t n) {
  const std::int64_t rest = (shift % n + n) % n;
  return {(shift - rest) / n, rest};
}

}  // namespace vphi::physics
