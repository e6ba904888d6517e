// A hash function for 64-bit numbers.
#pragma once

#include <cstdint>

namespace vphi::physics {

/// A step of splitmix64 (Steele, Lea and Flood, OOPSLA 2014).
constexpr std::uint64_t mixed_bits(std::uint64_t n) {
  n += 0x9E3779B97F4A7C15U;
  n = (n ^ (n >> 30)) * 0xBF58476D1CE4E5B9U;
  n = (n ^ (n >> 27)) * 0x94D049BB133111EBU;
  return n ^ (n >> 31);
}
static_assert(mixed_bits(0) == 0xE220A8397B1DCDAFU);  // the first number of the seed 0

}  // namespace vphi::physics
