#include "runtime/device/sha256.hpp"

#include <bit>
#include <cstring>

namespace vphi::runtime {
namespace {

using Words = std::array<std::uint32_t, 64>;

// First 32 bits of the fractional parts of the cube roots of the first 64 primes (4.2.2).
constexpr Words kRound = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

struct HashState {
  std::array<std::uint32_t, 8> h = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

  void block(const std::uint8_t* bytes) {
    Words w{};
    for (int t = 0; t < 16; ++t)
      w[t] = std::uint32_t(bytes[4 * t]) << 24 | std::uint32_t(bytes[4 * t + 1]) << 16 |
             std::uint32_t(bytes[4 * t + 2]) << 8 | bytes[4 * t + 3];
    for (int t = 16; t < 64; ++t) {
      const std::uint32_t a = w[t - 15], b = w[t - 2];
      w[t] = w[t - 16] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ a >> 3) + w[t - 7] +
             (std::rotr(b, 17) ^ std::rotr(b, 19) ^ b >> 10);
    }
    auto v = h;
    for (int t = 0; t < 64; ++t) {
      const std::uint32_t e = v[4], a = v[0];
      const std::uint32_t choose = (e & v[5]) ^ (~e & v[6]);
      const std::uint32_t majority = (a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]);
      const std::uint32_t t1 = v[7] + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                               choose + kRound[t] + w[t];
      const std::uint32_t t2 = (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + majority;
      v = {t1 + t2, v[0], v[1], v[2], v[3] + t1, v[4], v[5], v[6]};
    }
    for (int i = 0; i < 8; ++i) h[i] += v[i];
  }
};

}  // namespace

Digest sha256(std::string_view bytes) {
  HashState state;
  const auto* at = reinterpret_cast<const std::uint8_t*>(bytes.data());
  std::size_t left = bytes.size();
  for (; left >= 64; at += 64, left -= 64) state.block(at);
  // Padding: a one bit, zeros, the length in bits as 64 bits, big-endian (5.1.1).
  std::array<std::uint8_t, 128> tail{};
  if (left) std::memcpy(tail.data(), at, left);
  tail[left] = 0x80;
  const std::size_t size = left < 56 ? 64 : 128;
  const std::uint64_t bits = std::uint64_t(bytes.size()) * 8;
  for (int i = 0; i < 8; ++i) tail[size - 1 - i] = std::uint8_t(bits >> (8 * i));
  for (std::size_t i = 0; i < size; i += 64) state.block(tail.data() + i);
  Digest digest{};
  for (int i = 0; i < 32; ++i) digest[i] = std::uint8_t(state.h[i / 4] >> (24 - 8 * (i % 4)));
  return digest;
}

std::string hex(const Digest& digest) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (std::uint8_t byte : digest) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

}  // namespace vphi::runtime
