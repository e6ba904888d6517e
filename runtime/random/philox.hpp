// Counter-based random numbers: uniform and normal numbers from the words of Philox4x32-10
// (program/philox.hpp).
//
// A number is a function of (seed, stream, index) only. There is no state to own, to save or to
// split, so the field is the same on every device and with any number of threads. Nothing here can
// fail.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <utility>

#include "program/philox.hpp"

namespace vphi::random {

using Counter = philox::Words;
using philox::Key;
using philox::key_of;

/// Uniform in the open interval (0, 1): the midpoints of 2^52 equal cells.
constexpr double uniform(std::uint32_t low, std::uint32_t high) {
  const std::uint64_t bits = (std::uint64_t{high} << 32 | low) >> 12;
  return (static_cast<double>(bits) + 0.5) * 0x1p-52;
}

/// Two independent normal numbers of mean 0 and variance 1 (Box and Muller 1958).
inline std::pair<double, double> normal_pair(const Counter& words) {
  const double radius = std::sqrt(-2 * std::log(uniform(words[0], words[1])));
  const double angle = 2 * std::numbers::pi * uniform(words[2], words[3]);
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

/// Counter of entry `index` of a stream.
constexpr Counter counter_of(std::uint64_t index, std::uint32_t stream) {
  return {static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32), stream, 0};
}

}  // namespace vphi::random
