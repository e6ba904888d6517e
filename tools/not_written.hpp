// The message of a file that the command could not write.
#pragma once

#include <fmt/format.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "tools/options.hpp"

namespace vphi::tools {

/// Right after the failure: the system's reason is that of its last call.
inline UsageError not_written(const std::filesystem::path& path) {
  const int reason = errno;
  const std::string why = reason == 0 ? "" : ": " + std::generic_category().message(reason);
  return UsageError(
      fmt::format("{} cannot be written{}", path.string(), why),
      reason == ENOENT ? "make its folder first" : "another place, or more room there");
}

}  // namespace vphi::tools
