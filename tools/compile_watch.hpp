// Says what is being compiled once that has taken a second: "compiling kernels, 2 of 8 done:
// heatbath_x, heatbath_y  12 s". Rewritten in a terminal, a line every ten seconds elsewhere; on
// stderr.
#pragma once

#include <string>
#include <thread>

#include "runtime/device/compile_progress.hpp"

namespace vphi::tools {

class CompileWatch {
 public:
  /// Watches until its end.
  explicit CompileWatch(bool terminal);

  static std::string text(const runtime::AtWork& now);

 private:
  static void watch(const std::stop_token& stop, bool terminal);

  std::jthread watcher_;
};

}  // namespace vphi::tools
