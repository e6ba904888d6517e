#include <bit>
#include <cstddef>
#include <cstdint>

#include "runtime/io/files/real_bytes.hpp"
#include "runtime/io/surfaces/element.hpp"

namespace vphi::io {

std::string osu_row(const SurfaceElement& e) {
  std::string row;
  const auto add = [&](double value) {
    std::array<std::byte, 8> bytes;
    put_word(bytes.data(), std::bit_cast<std::uint64_t>(value), std::endian::little);
    row.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  for (std::size_t i = 0; i < 3; ++i) add(e.place[i]);
  for (std::size_t i = 0; i < 3; ++i) add(e.normal[i]);
  for (std::size_t i = 1; i < 3; ++i) add(e.u[i] / e.u[0]);
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t k = i; k < 3; ++k) add(e.pi[i][k] * kHbarC);
  add(e.pi[3][3] * kHbarC);
  add(e.Pi * kHbarC);
  return row;
}

}  // namespace vphi::io
