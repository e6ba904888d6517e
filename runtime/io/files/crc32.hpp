// CRC-32 (polynomial 0x04C11DB7, reflected; ISO 3309, RFC 1952 section 8), as zlib computes it: the
// sum over the bytes of a site that the SciDAC checksum of a gauge configuration is made of. By
// tables, so that configurations are read and written where zlib is absent. Cannot fail.
#pragma once

#include "runtime/io/files/crc_tables.hpp"

namespace vphi::io {

inline constexpr CrcTables kCrc32Tables = crc_tables(0xEDB88320U);

/// Of `bytes`; `before`: of what went before them, so that pieces can be added one by one.
inline std::uint32_t crc32(std::span<const std::byte> bytes, std::uint32_t before = 0) {
  return crc_by_tables(kCrc32Tables, bytes, before);
}

}  // namespace vphi::io
