// Converts numbers between files (f32 or f64, in either byte order) and memory (f64). Cannot fail;
// numbers are rounded to f32.
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

/// Converts an unsigned number to or from the byte order `order`.
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

/// Converts all numbers in `from`.
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

/// Converts as many numbers as fit into `to`.
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
