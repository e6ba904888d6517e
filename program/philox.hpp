// Philox with four 32-bit words: the one definition of the generator.
//
// Initial fields draw from it while a program runs (runtime/random), kernels at each step
// (compiler/kernel/draw.hpp). Host code calls `generate`; the texts for devices
// (templates/math/draws.txt, runtime/run/starts/field_kernels.cpp) are written with the numbers
// below. Reference: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC11
// (2011). Nothing here can fail.
#pragma once

#include <array>
#include <cstdint>

namespace vphi::philox {

using Words = std::array<std::uint32_t, 4>;
using Key = std::array<std::uint32_t, 2>;

/// What words 0 and 2 are multiplied by, and what a key grows by from one round to the next.
inline constexpr std::array<std::uint32_t, 2> kMultiply = {0xD2511F53, 0xCD9E8D57};
inline constexpr Key kKeyStep = {0x9E3779B9, 0xBB67AE85};
/// As recommended, and the fewest that pass the tests of randomness.
inline constexpr int kRounds = 10, kFewRounds = 7;

/// Low word first.
constexpr Key key_of(std::uint64_t seed) {
  return {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)};
}

/// Of round number `round`, counted from 0.
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

/// The four words of a counter.
constexpr Words generate(Words counter, const Key& key, int rounds = kRounds) {
  for (int round = 0; round < rounds; ++round) counter = one_round(counter, round_key(key, round));
  return counter;
}

}  // namespace vphi::philox
