// The kinds of device as choices of the command line.
#pragma once

#include <string>
#include <vector>

#include "program/target.hpp"

namespace vphi::tools {

inline std::vector<std::string> device_kinds() {
  return {program::kTargetNames.begin(), program::kTargetNames.end()};
}

}  // namespace vphi::tools
