// The dialects and models of the audits of shipped models.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "compiler/compile.hpp"
#include "tests/support/places.hpp"

namespace vphi::audit {

struct Way {
  const char* name;
  emit::TargetInfo target;
};

inline std::vector<Way> ways() {
  using program::Target;
  std::vector<Way> list(5);
  list[0].name = "native";
  list[1].name = "OpenCL on a processor";
  list[2].name = "OpenCL on a GPU";
  list[3].name = "OpenCL on an NVIDIA GPU";
  list[4].name = "CUDA";
  for (std::size_t i = 0; i < list.size(); ++i) {
    list[i].target.target = i == 0 ? Target::Native : i < 4 ? Target::OpenCL : Target::Cuda;
    list[i].target.is_cpu = i < 2;
    list[i].target.nvidia = i >= 3;
  }
  return list;
}

/// Shipped models, "cosmology/preheating.vphi", without the library's texts.
inline std::vector<std::string> models() {
  std::vector<std::string> list;
  const std::filesystem::path root = std::filesystem::path(VPHI_SOURCE_DIR) / "models";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    const std::string name = std::filesystem::relative(entry.path(), root).string();
    if (entry.path().extension() == ".vphi" && !name.starts_with("std/")) list.push_back(name);
  }
  std::sort(list.begin(), list.end());
  return list;
}

}  // namespace vphi::audit
