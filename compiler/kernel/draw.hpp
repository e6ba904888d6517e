// The random numbers of a kernel: what Op::Normal and Op::Uniform mean, number for number.
//
// kernel::Random says where they come from. The interpreter calls these functions; emitters write
// the same arithmetic into the source, with the keys of the rounds as constants. Reference: Salmon,
// Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC11 (2011); Box and Muller,
// Ann. Math. Stat. 29, 610 (1958). Nothing here can fail.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "compiler/kernel/kernel.hpp"

namespace vphi::kernel {

using Words = std::array<std::uint32_t, 4>;

inline constexpr std::uint32_t kMultiply0 = 0xD2511F53, kMultiply2 = 0xCD9E8D57;
inline constexpr int kRounds = 10;

/// Both key words of a round, low one first.
constexpr std::array<std::uint32_t, 2> round_key(std::uint64_t seed, int round) {
  const auto turns = static_cast<std::uint32_t>(round);
  return {static_cast<std::uint32_t>(seed) + turns * 0x9E3779B9U,
          static_cast<std::uint32_t>(seed >> 32) + turns * 0xBB67AE85U};
}

/// Philox4x32-10.
constexpr Words philox(Words c, std::uint64_t seed) {
  for (int round = 0; round < kRounds; ++round) {
    const auto key = round_key(seed, round);
    const std::uint64_t p0 = std::uint64_t{kMultiply0} * c[0];
    const std::uint64_t p2 = std::uint64_t{kMultiply2} * c[2];
    c = {static_cast<std::uint32_t>(p2 >> 32) ^ c[1] ^ key[0], static_cast<std::uint32_t>(p2),
         static_cast<std::uint32_t>(p0 >> 32) ^ c[3] ^ key[1], static_cast<std::uint32_t>(p0)};
  }
  return c;
}

/// Words of a walker's sequence that a step takes up: 1, 2, or a multiple of 4, so that what a draw
/// shares its block with is known beforehand.
constexpr std::int64_t words_per_step(const Random& random) {
  return random.draws <= 2 ? random.draws : (random.draws + 3) / 4 * 4;
}

/// Block number `block` of a walker's sequence.
constexpr Words block_of(const Random& random, std::uint64_t walker, std::uint64_t block) {
  return philox(
      {static_cast<std::uint32_t>(walker), static_cast<std::uint32_t>(block), random.stream,
       static_cast<std::uint32_t>(walker >> 32 << 16) |
           static_cast<std::uint32_t>(block >> 32 & 0xffff)},
      random.seed);
}

/// (word + 1/2)/2^32, rounded.
template <class Real>
Real unit_interval(std::uint32_t word) {
  return static_cast<Real>(word) * static_cast<Real>(0x1p-32) + static_cast<Real>(0x1p-33);
}

/// Draw `index` of a step.
template <class Real>
Real draw(const Random& random, algebra::Op kind, int index, std::uint64_t walker,
          std::uint64_t step) {
  const std::uint64_t d =
      step * static_cast<std::uint64_t>(words_per_step(random)) + static_cast<std::uint64_t>(index);
  const Words words = block_of(random, walker, d / 4);
  if (kind == algebra::Op::Uniform) return unit_interval<Real>(words[d % 4]);
  const std::size_t pair = d % 4 / 2 * 2;
  const Real square = Real(-2) * std::log(unit_interval<Real>(words[pair]));
  const Real radius = std::sqrt(std::max(square, Real(0)));
  // The same angle less a whole turn where it is more than half of one: from -pi to pi.
  constexpr long double kCell = std::numbers::pi_v<long double> * 0x1p-32L;
  const Real angle =
      static_cast<Real>(static_cast<std::int32_t>(words[pair + 1])) * static_cast<Real>(2 * kCell) +
      static_cast<Real>(kCell);
  return radius * (d % 2 == 0 ? std::cos(angle) : std::sin(angle));
}

}  // namespace vphi::kernel
