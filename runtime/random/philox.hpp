// Counter-based random numbers: Philox4x32-10, and uniform and normal numbers from its words.
//
// A number is a function of (seed, stream, index) only. There is no state to own, to save or to
// split, so the field is the same on every device and with any number of threads.
// Reference: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC11
// (2011). Nothing here can fail.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <utility>

namespace vphi::random {

using Counter = std::array<std::uint32_t, 4>;
using Key = std::array<std::uint32_t, 2>;

/// Ten rounds of Philox with four 32-bit words.
constexpr Counter philox(Counter c, Key k) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = std::uint64_t{0xD2511F53} * c[0];
    const std::uint64_t p1 = std::uint64_t{0xCD9E8D57} * c[2];
    c = {static_cast<std::uint32_t>(p1 >> 32) ^ c[1] ^ k[0], static_cast<std::uint32_t>(p1),
         static_cast<std::uint32_t>(p0 >> 32) ^ c[3] ^ k[1], static_cast<std::uint32_t>(p0)};
    k = {k[0] + 0x9E3779B9U, k[1] + 0xBB67AE85U};
  }
  return c;
}

constexpr Key key_of(std::uint64_t seed) {
  return {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)};
}

/// Uniform in the open interval (0, 1): the middles of 2^52 equal cells.
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
