#include "runtime/io/files/crc32c.hpp"

#include "runtime/io/files/crc_tables.hpp"

#if defined(__x86_64__) && defined(__GNUC__)
#define VPHI_CRC_INSTRUCTION 1
#include <nmmintrin.h>
#endif

namespace vphi::io {
namespace {

constexpr CrcTables kTables = crc_tables(0x82F63B78U);

#ifdef VPHI_CRC_INSTRUCTION
__attribute__((target("sse4.2"))) std::uint32_t by_instruction(std::span<const std::byte> bytes,
                                                               std::uint32_t before) {
  std::uint64_t crc = ~before;
  const std::byte* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 8; at += 8, left -= 8) {
    std::uint64_t word;
    std::memcpy(&word, at, 8);
    crc = _mm_crc32_u64(crc, word);
  }
  auto narrow = static_cast<std::uint32_t>(crc);
  for (; left > 0; ++at, --left) narrow = crc_byte(kTables, narrow, *at);
  return ~narrow;
}
#endif

}  // namespace

std::uint32_t crc32c_by_table(std::span<const std::byte> bytes, std::uint32_t before) {
  return crc_by_tables(kTables, bytes, before);
}

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before) {
#ifdef VPHI_CRC_INSTRUCTION
  if (__builtin_cpu_supports("sse4.2")) return by_instruction(bytes, before);
#endif
  return crc32c_by_table(bytes, before);
}

}  // namespace vphi::io
