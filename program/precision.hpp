// How wide a number is in memory and in arithmetic: one notion from the model's text to its files.
#pragma once

#include <array>
#include <cstddef>

namespace vphi::program {

enum class Precision { F32, F64 };

/// As models and files call them, in the order of the enum.
inline constexpr std::array kPrecisionNames{"f32", "f64"};

constexpr const char* name_of(Precision precision) {
  return kPrecisionNames[static_cast<std::size_t>(precision)];
}

}  // namespace vphi::program
