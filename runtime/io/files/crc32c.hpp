// CRC-32C (Castagnoli polynomial 0x1EDC6F41, reflected; RFC 3720 appendix B.4), the checksum of
// files that are read back after a crash. It is computed by the processor's instruction where there
// is one (SSE 4.2), otherwise by tables. Cannot fail.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace vphi::io {

/// The CRC of `bytes`; `before`: the CRC of the bytes before them.
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before = 0);
/// The same by tables.
std::uint32_t crc32c_by_table(std::span<const std::byte> bytes, std::uint32_t before = 0);

}  // namespace vphi::io
