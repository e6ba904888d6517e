// SHA-256 (FIPS 180-4), for the names and checksums of the code cache.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace vphi::runtime {

using Digest = std::array<std::uint8_t, 32>;

Digest sha256(std::string_view bytes);
std::string hex(const Digest& digest);

}  // namespace vphi::runtime
