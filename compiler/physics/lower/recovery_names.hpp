// Symbols that stand for the definitions of `recover` while these are read.
#pragma once

#include <string>
#include <string_view>

#include <fmt/format.h>

namespace vphi::physics {

inline constexpr std::string_view kRecoveryName = "recover:";

/// Of component i of what `name` is defined as.
inline std::string recovery_name(const std::string& name, int i) {
  return fmt::format("{}{}:{}", kRecoveryName, name, i);
}
inline bool is_recovery_name(std::string_view symbol) { return symbol.starts_with(kRecoveryName); }

}  // namespace vphi::physics
