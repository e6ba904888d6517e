// The axes of a lattice by name.
#pragma once

#include <string_view>

namespace vphi::dsl {

/// x, y, z or t.
inline bool is_axis(std::string_view name) {
  return name.size() == 1 && std::string_view("xyzt").find(name) != std::string_view::npos;
}

}  // namespace vphi::dsl
