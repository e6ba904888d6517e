// A progress line on stderr for compilations that take more than a second: "compiling kernels, 2 of
// 8 done: heatbath_x, heatbath_y  12 s". It is rewritten in a terminal; elsewhere there is a new
// line every ten seconds.
#pragma once

#include <string>
#include <thread>

#include "runtime/device/compile_progress.hpp"

namespace vphi::tools {

class CompileWatch {
 public:
  /// Watches until it is destroyed.
  explicit CompileWatch(bool terminal);

  static std::string text(const runtime::AtWork& now);

 private:
  static void watch(const std::stop_token& stop, bool terminal);

  std::jthread watcher_;
};

}  // namespace vphi::tools
