// What the command says on standard error: messages, notes, progress.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <utility>

namespace vphi::tools {

/// Writes formatted text to standard error. What cannot be written, as to a full disk, is lost: it
/// ends no run.
template <typename... Args>
void say(fmt::format_string<Args...> text, Args&&... args) {
  const std::string line = fmt::format(text, std::forward<Args>(args)...);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace vphi::tools
