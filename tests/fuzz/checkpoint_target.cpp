// A checkpoint from a disk that lies: read whole, or said to be damaged. The bytes are taken as
// they are, and once more with the checksums of head and blocks put right, so that what lies behind
// them is reached too.
#include <cstring>

#include "runtime/io/files/crc32c.hpp"
#include "runtime/run/state/checkpoint.hpp"
#include "target.hpp"

namespace {

constexpr std::size_t kStart = 32;

/// The bytes with a checksum of the head that holds, and of the first block where it is where the
/// length of the head says.
std::vector<std::byte> mended(std::span<const std::byte> bytes) {
  std::vector<std::byte> all(bytes.begin(), bytes.end());
  if (all.size() < kStart + 4) return all;
  std::uint64_t length = 0;
  std::memcpy(&length, &all[24], 8);
  if (length > all.size() - kStart - 4) return all;
  const auto sum = [&](std::size_t from, std::size_t count, std::size_t to) {
    const std::uint32_t crc = vphi::io::crc32c(std::span(all).subspan(from, count));
    std::memcpy(&all[to], &crc, 4);
  };
  sum(kStart, length, 20);
  const std::size_t block = kStart + length;
  sum(block, all.size() - 4 - block, all.size() - 4);
  return all;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  vphi::runtime::fuzz_checkpoint(bytes);
  vphi::runtime::fuzz_checkpoint(mended(bytes));
  return 0;
}
