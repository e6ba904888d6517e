// Names of tests over shipped models: "cosmology/lphi4" is cosmology_lphi4.
#pragma once

#include <algorithm>
#include <string>

namespace vphi::testing {

inline constexpr auto model_name = [](const auto& test) {
  std::string name = test.param;
  std::ranges::replace(name, '/', '_');
  return name;
};

}  // namespace vphi::testing
