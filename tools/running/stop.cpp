#include "tools/running/stop.hpp"

#include <unistd.h>

#include <csignal>
#include <string_view>

#include "runtime/device/native/process.hpp"
#include "tools/verbs.hpp"

namespace vphi::tools {

namespace {

constexpr unsigned kCompilerPatience = 5;  ///< seconds that a compiler is given

// Global atomics, since a signal handler can access nothing else.
std::atomic<bool> wished{false}, begun{false}, keep_now{false}, as_json{false};
std::atomic<int> by_signal{SIGINT};

/// Ends the process with functions that a signal handler may call.
[[noreturn]] void leave() {
  constexpr std::string_view kText = "note: stopped while kernels were being made\n";
  constexpr std::string_view kObjects[] = {
      "{\"ok\": false, \"status\": 143, \"interrupted\": true}\n",
      "{\"ok\": false, \"status\": 130, \"interrupted\": true}\n"};
  const std::string_view object = kObjects[by_signal == SIGTERM ? 0 : 1];
  [[maybe_unused]] auto written = write(STDERR_FILENO, kText.data(), kText.size());
  if (as_json) written = write(STDOUT_FILENO, object.data(), object.size());
  runtime::end_child_processes();
  _exit(status_of_stop());
}

extern "C" void recheck(int) {
  if (runtime::compiling()) leave();
  alarm(kCompilerPatience);
}

extern "C" void stop(int signal) {
  by_signal = signal;
  wished = true;
  if (!begun) leave();
  std::signal(signal, SIG_DFL);
  std::signal(SIGALRM, recheck);
  alarm(kCompilerPatience);
}

extern "C" void keep(int) { keep_now = true; }

}  // namespace

void listen_to_signals(bool json) {
  as_json = json;
  std::signal(SIGINT, stop);
  std::signal(SIGTERM, stop);
  std::signal(SIGUSR1, keep);
}

std::atomic<bool>& stop_wish() { return wished; }
std::atomic<bool>& checkpoint_wish() { return keep_now; }
void results_begin() { begun = true; }
int status_of_stop() { return by_signal == SIGTERM ? kTerminated : kInterrupted; }

}  // namespace vphi::tools
