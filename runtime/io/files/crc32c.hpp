// CRC-32C (Castagnoli polynomial 0x1EDC6F41, reflected; RFC 3720 appendix B.4), the checksum of
// everything that is written to be read back after a crash. By the processor's own instruction
// where it has one (SSE 4.2), else by tables of eight bytes. Cannot fail.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace vphi::io {

/// Of `bytes`; `before`: of what went before them, so that pieces can be added one by one.
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before = 0);
/// The same without the processor's help.
std::uint32_t crc32c_by_table(std::span<const std::byte> bytes, std::uint32_t before = 0);

}  // namespace vphi::io
