// CRC-32 (polynomial 0x04C11DB7, reflected; ISO 3309, RFC 1952 section 8), as zlib computes it: the
// SciDAC checksum of a gauge configuration is made from the CRC-32 of each site. It is computed by
// tables, so that zlib is not needed. Cannot fail.
#pragma once

#include "runtime/io/files/crc_tables.hpp"

namespace vphi::io {

inline constexpr CrcTables kCrc32Tables = crc_tables(0xEDB88320U);

/// The CRC of `bytes`; `before`: the CRC of the bytes before them.
inline std::uint32_t crc32(std::span<const std::byte> bytes, std::uint32_t before = 0) {
  return crc_by_tables(kCrc32Tables, bytes, before);
}

}  // namespace vphi::io
