// The tables of a reflected 32-bit cyclic redundancy check, and the check of bytes by them: eight
// bytes per iteration ("slicing by 8": Kounavis and Berry, IEEE ISCC 2005). They are used for two
// polynomials: Castagnoli's for files that are read back after a crash (crc32c.hpp), and that of
// zlib for gauge configurations (crc32.hpp). Cannot fail.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace vphi::io {

/// Table k holds the effect of a byte that is followed by k others.
using CrcTables = std::array<std::array<std::uint32_t, 256>, 8>;

/// `polynomial`: reflected, the coefficient of x^0 in the highest bit.
constexpr CrcTables crc_tables(std::uint32_t polynomial) {
  CrcTables tables{};
  for (std::uint32_t n = 0; n < 256; ++n) {
    std::uint32_t crc = n;
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1) != 0 ? (crc >> 1) ^ polynomial : crc >> 1;
    tables[0][n] = crc;
  }
  for (std::size_t k = 1; k < 8; ++k)
    for (std::size_t n = 0; n < 256; ++n)
      tables[k][n] = (tables[k - 1][n] >> 8) ^ tables[0][tables[k - 1][n] & 0xff];
  return tables;
}

/// The register after one more byte.
inline std::uint32_t crc_byte(const CrcTables& tables, std::uint32_t crc, std::byte byte) {
  return (crc >> 8) ^ tables[0][(crc ^ std::to_integer<std::uint32_t>(byte)) & 0xff];
}

/// The CRC of `bytes`; `before`: the CRC of the bytes before them.
inline std::uint32_t crc_by_tables(const CrcTables& tables, std::span<const std::byte> bytes,
                                   std::uint32_t before) {
  std::uint32_t crc = ~before;
  const std::byte* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 8; at += 8, left -= 8) {
    std::uint64_t next;
    std::memcpy(&next, at, 8);  // little endian, as every machine the devices run on
    next ^= crc;
    crc = 0;
    for (std::size_t k = 0; k < 8; ++k) crc ^= tables[7 - k][(next >> (8 * k)) & 0xff];
  }
  for (; left > 0; ++at, --left) crc = crc_byte(tables, crc, *at);
  return ~crc;
}

}  // namespace vphi::io
