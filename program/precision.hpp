// Precision of a number in memory and in arithmetic.
#pragma once

#include <array>
#include <cstddef>

namespace vphi::program {

enum class Precision { F32, F64 };

/// Names in models and files, in the order of the enum.
inline constexpr std::array kPrecisionNames{"f32", "f64"};

constexpr const char* name_of(Precision precision) {
  return kPrecisionNames[static_cast<std::size_t>(precision)];
}

}  // namespace vphi::program
