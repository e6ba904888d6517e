// Numbers as files have them: f32 or f64, in either order of bytes, and as f64 in memory. Cannot
// fail; a number of f64 that f32 cannot hold is rounded.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "program/program.hpp"

namespace vphi::io {

inline std::size_t bytes_of(program::Precision precision) {
  return precision == program::Precision::F32 ? 4 : 8;
}

/// An unsigned number as it lies in `order`, and back.
template <class Word>
Word in_byte_order(Word word, std::endian order) {
  static_assert(std::endian::native == std::endian::little);
  if (order == std::endian::little) return word;
  if constexpr (sizeof(Word) == 2) return __builtin_bswap16(word);
  if constexpr (sizeof(Word) == 4) return __builtin_bswap32(word);
  if constexpr (sizeof(Word) == 8) return __builtin_bswap64(word);
}

template <class Word>
Word word_at(const std::byte* at, std::endian order) {
  Word word;
  std::memcpy(&word, at, sizeof word);
  return in_byte_order(word, order);
}

template <class Word>
void put_word(std::byte* at, Word word, std::endian order) {
  word = in_byte_order(word, order);
  std::memcpy(at, &word, sizeof word);
}

/// As many numbers as `from` holds.
inline void to_reals(std::span<const std::byte> from, program::Precision precision,
                     std::endian order, double* to) {
  if (precision == program::Precision::F32) {
    for (std::size_t at = 0; at < from.size(); at += 4)
      *to++ = std::bit_cast<float>(word_at<std::uint32_t>(&from[at], order));
  } else {
    for (std::size_t at = 0; at < from.size(); at += 8)
      *to++ = std::bit_cast<double>(word_at<std::uint64_t>(&from[at], order));
  }
}

/// As many numbers as `to` has room for.
inline void from_reals(const double* from, program::Precision precision, std::endian order,
                       std::span<std::byte> to) {
  if (precision == program::Precision::F32) {
    for (std::size_t at = 0; at < to.size(); at += 4)
      put_word(&to[at], std::bit_cast<std::uint32_t>(static_cast<float>(*from++)), order);
  } else {
    for (std::size_t at = 0; at < to.size(); at += 8)
      put_word(&to[at], std::bit_cast<std::uint64_t>(*from++), order);
  }
}

}  // namespace vphi::io
