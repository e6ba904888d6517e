// The random number generator Philox with four 32-bit words.
//
// Initial fields take random numbers from it on the host or on the device (runtime/random), and
// kernels take them at each step (compiler/kernel/draw.hpp). Host code calls `generate`. The source
// text for devices (templates/math/draws.txt, runtime/run/starts/field_kernels.cpp) contains the
// constants below. Reference: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1,
// 2, 3", SC11 (2011). Nothing here can fail.
#pragma once

#include <array>
#include <cstdint>

namespace vphi::philox {

using Words = std::array<std::uint32_t, 4>;
using Key = std::array<std::uint32_t, 2>;

/// Multipliers of words 0 and 2, and the increment of the key from one round to the next.
inline constexpr std::array<std::uint32_t, 2> kMultiply = {0xD2511F53, 0xCD9E8D57};
inline constexpr Key kKeyStep = {0x9E3779B9, 0xBB67AE85};
/// The recommended number of rounds, and the smallest that passes the published tests of
/// randomness.
inline constexpr int kRounds = 10, kFewRounds = 7;

/// The key of a seed, low word first.
constexpr Key key_of(std::uint64_t seed) {
  return {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)};
}

/// Key of round number `round`, counted from 0.
constexpr Key round_key(const Key& key, int round) {
  const auto steps = static_cast<std::uint32_t>(round);
  return {key[0] + steps * kKeyStep[0], key[1] + steps * kKeyStep[1]};
}

constexpr Words one_round(const Words& c, const Key& key) {
  const std::uint64_t p = std::uint64_t{kMultiply[0]} * c[0];
  const std::uint64_t q = std::uint64_t{kMultiply[1]} * c[2];
  return {static_cast<std::uint32_t>(q >> 32) ^ c[1] ^ key[0], static_cast<std::uint32_t>(q),
          static_cast<std::uint32_t>(p >> 32) ^ c[3] ^ key[1], static_cast<std::uint32_t>(p)};
}

/// The four random words that belong to a counter.
constexpr Words generate(Words counter, const Key& key, int rounds = kRounds) {
  for (int round = 0; round < rounds; ++round) counter = one_round(counter, round_key(key, round));
  return counter;
}

}  // namespace vphi::philox
