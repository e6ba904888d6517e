// The random numbers of a kernel: the values of Op::Normal and Op::Uniform.
//
// kernel::Random describes how they are numbered, program/philox.hpp defines the generator. The
// interpreter calls these functions; emitters write the same arithmetic into the source, with the
// keys of the rounds as constants. Reference: Box and Muller, Ann. Math. Stat. 29, 610 (1958).
// Nothing here can fail.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "compiler/kernel/kernel.hpp"
#include "program/philox.hpp"

namespace vphi::kernel {

using philox::Words;

inline constexpr std::uint64_t kRunBlocks = 8;  ///< blocks of four xorshift words from one start

constexpr int philox_rounds(Generator generator) {
  return generator == Generator::Philox7 ? philox::kFewRounds : philox::kRounds;
}

/// Words (or bits) of a walker's sequence that a step uses: 1, 2, or a multiple of 4 (bits: a power
/// of 2). Which draws share a block is then known at compile time.
constexpr std::int64_t words_per_step(const Random& random) {
  if (random.bits)
    return static_cast<std::int64_t>(std::bit_ceil(static_cast<unsigned>(random.draws)));
  return random.draws <= 2 ? random.draws : (random.draws + 3) / 4 * 4;
}
/// Whether neighbouring sites share the words of a step, not the steps of one site.
constexpr bool across_sites(const Random& random) { return random.sites > 1 && !random.bits; }
/// Words that a site uses in one step of the finest run on its path (Random::finer).
constexpr std::int64_t words_of_site(const Random& random) {
  Random one = random;
  one.draws = random.draws / random.finer;
  return words_per_step(one);
}
/// Sites that share a block in a step: 1, 2 or 4. For across_sites.
constexpr std::int64_t sites_of_block(const Random& random) {
  return std::max<std::int64_t>(1, 4 / std::max<std::int64_t>(1, words_of_site(random)));
}
/// The place of a site among those that share blocks: its number where neighbours do
/// (Random::apart). For across_sites.
constexpr std::uint64_t place_among(const Random& random, std::uint64_t site) {
  if (random.apart == 1) return site;
  const auto apart = static_cast<std::uint64_t>(random.apart);
  const auto together = static_cast<std::uint64_t>(sites_of_block(random));
  const std::uint64_t j = site % (apart * together);
  return site - j + j % apart * together + j / apart;
}
/// Blocks that a step uses. For across_sites.
constexpr std::int64_t blocks_per_step(const Random& random) {
  return std::max<std::int64_t>(1, words_of_site(random) / 4) * random.finer;
}
/// Position of draw `index` of a site, counted in words from the first of its step, for a site that
/// shares no block. For across_sites.
constexpr std::int64_t word_of_draw(const Random& random, int index) {
  const std::int64_t words = words_of_site(random);
  return index / words * std::max<std::int64_t>(4, words) + index % words;
}
/// Draws of a step that fit into one word, with one bit each.
inline constexpr int kMostBits = 32;

/// Successive steps that share a block of random numbers and are unrolled by kernels: 1, 2 or 4.
constexpr std::int64_t steps_sharing_draws(const Random& random) {
  if (random.draws == 0) return 4;
  const std::int64_t words = words_per_step(random), all = random.bits ? kMostBits : 4;
  return std::clamp<std::int64_t>(all / words, 1, 4);
}

/// Steps between two starts of a generator's state (a run of xorshift words, a word of bits); 0: no
/// such state, or it does not start at the beginning of a step.
constexpr std::int64_t steps_of_run(const Random& random) {
  const bool state = random.bits || random.generator == Generator::Xorshift32;
  if (!state || random.draws == 0) return 0;
  const std::int64_t words = words_per_step(random);
  return words <= 4 || (random.bits && words <= kMostBits) ? 32 / words : 0;
}

/// The next state of xorshift32, which is also its word.
constexpr std::uint32_t xorshift32(std::uint32_t state) {
  state ^= state << 13;
  state ^= state >> 17;
  return state ^ state << 5;
}

/// Block number `block` of a walker's sequence.
constexpr Words block_of(const Random& random, std::uint64_t walker, std::uint64_t block) {
  const auto philox_block = [&](std::uint64_t b) {
    return philox::generate(
        {static_cast<std::uint32_t>(walker), static_cast<std::uint32_t>(b), random.stream,
         static_cast<std::uint32_t>(walker >> 32 << 16) |
             static_cast<std::uint32_t>(b >> 32 & 0xffff)},
        philox::key_of(random.seed), philox_rounds(random.generator));
  };
  if (random.generator != Generator::Xorshift32) return philox_block(block);
  std::uint32_t state = philox_block(block / kRunBlocks)[0];
  if (state == 0) state = 1;
  for (std::uint64_t i = 0; i < block % kRunBlocks * 4; ++i) state = xorshift32(state);
  Words words{};
  for (std::uint32_t& word : words) word = state = xorshift32(state);
  return words;
}

/// (word + 1/2)/2^32, rounded.
template <class Real>
Real unit_interval(std::uint32_t word) {
  return static_cast<Real>(word) * static_cast<Real>(0x1p-32) + static_cast<Real>(0x1p-33);
}

/// A word of a walker's sequence.
struct WordPlace {
  std::uint64_t walker = 0, word = 0;
};
/// Position of draw `index` of a step in the sequences; `walker` counts sites, instance*sites +
/// site.
constexpr WordPlace place_of(const Random& random, int index, std::uint64_t walker,
                             std::uint64_t step) {
  if (!across_sites(random)) {
    return {walker, step * static_cast<std::uint64_t>(words_per_step(random)) +
                        static_cast<std::uint64_t>(index)};
  }
  const auto sites = static_cast<std::uint64_t>(random.sites);
  const auto together = static_cast<std::uint64_t>(sites_of_block(random));
  const std::uint64_t site = place_among(random, walker % sites),
                      groups = (sites + together - 1) / together;
  return {walker / sites * groups + site / together,
          step * static_cast<std::uint64_t>(blocks_per_step(random)) * 4 +
              site % together * static_cast<std::uint64_t>(words_of_site(random)) +
              static_cast<std::uint64_t>(word_of_draw(random, index))};
}

/// Draw `index` of a step; `walker` counts sites, instance*sites + site.
template <class Real>
Real draw(const Random& random, algebra::Op kind, int index, std::uint64_t walker,
          std::uint64_t step) {
  const auto [owner, d] = place_of(random, index, walker, step);
  if (random.bits) {
    const std::uint32_t word = block_of(random, owner, d / 128)[d / 32 % 4];
    return (word >> d % 32 & 1) != 0 ? Real(0.75) : Real(0.25);
  }
  const Words words = block_of(random, owner, d / 4);
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
