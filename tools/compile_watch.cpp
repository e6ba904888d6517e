#include "tools/compile_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>

#include "tools/running/progress.hpp"
#include "tools/say.hpp"

namespace vphi::tools {
namespace {

constexpr auto kLook = std::chrono::milliseconds(100);
constexpr double kPatience = 1, kBetweenLines = 10;  // seconds
constexpr std::size_t kShown = 3;                    // names

}  // namespace

CompileWatch::CompileWatch(bool terminal)
    : watcher_([terminal](const std::stop_token& stop) { watch(stop, terminal); }) {}

std::string CompileWatch::text(const runtime::AtWork& now) {
  std::string line = fmt::format("compiling kernels, {} of {} done", now.done, now.count);
  const std::size_t shown = std::min(kShown, now.names.size());
  for (std::size_t i = 0; i < shown; ++i) line += (i == 0 ? ": " : ", ") + now.names[i];
  if (shown < now.names.size()) line += fmt::format(" and {} more", now.names.size() - shown);
  return line + "  " + duration_text(now.seconds);
}

void CompileWatch::watch(const std::stop_token& stop, bool terminal) {
  std::mutex lock;
  std::condition_variable_any
      wake;  // notified at the stop, so that it does not wait for the next check
  double next = kPatience;
  std::size_t width = 0;  // of the line on the screen
  const auto wipe = [&] {
    if (width > 0) say("\r{:{}}\r", "", width);
    width = 0;
  };
  while (!stop.stop_requested()) {
    const runtime::AtWork now = runtime::compilers_at_work();
    if (now.count == 0) {
      wipe();
      next = kPatience;
    } else if (now.seconds >= next) {
      const std::string line = text(now);
      if (terminal) {
        wipe();
        say("{}", line);
        std::fflush(stderr);
        width = line.size();
      } else {
        say("{}\n", line);
        next += kBetweenLines;
      }
    }
    std::unique_lock held(lock);
    wake.wait_for(held, stop, kLook, [] { return false; });
  }
  wipe();
}

}  // namespace vphi::tools
