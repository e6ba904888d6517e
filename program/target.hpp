// The kinds of device that kernels are written for.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace vphi::program {

enum class Target { Native, OpenCL, Cuda, Hip };

/// Names on the command line and in files, in the order of the enum.
inline constexpr std::array kTargetNames{"native", "opencl", "cuda", "hip"};

constexpr const char* name_of(Target target) {
  return kTargetNames[static_cast<std::size_t>(target)];
}

/// Nothing where no kind of device has this name.
constexpr std::optional<Target> target_named(std::string_view name) {
  for (std::size_t i = 0; i < kTargetNames.size(); ++i)
    if (name == kTargetNames[i]) return static_cast<Target>(i);
  return std::nullopt;
}

}  // namespace vphi::program
