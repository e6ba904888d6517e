#include "compiler/algebra/sample.hpp"

namespace vphi::algebra {

double sample_number(std::initializer_list<std::int64_t> key, std::string_view name) {
  std::uint64_t mixed = 0x9e3779b97f4a7c15ULL;
  const auto mix = [&](std::uint64_t more) {
    mixed = (mixed ^ more) * 0xbf58476d1ce4e5b9ULL;
    mixed ^= mixed >> 29U;
  };
  for (const std::int64_t part : key) mix(static_cast<std::uint64_t>(part + 1000));
  for (const char letter : name) mix(static_cast<std::uint64_t>(letter));
  return static_cast<double>(mixed >> 11U) * 0x1p-53 + 0.25;
}

}  // namespace vphi::algebra
