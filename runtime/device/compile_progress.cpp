#include "runtime/device/compile_progress.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>

namespace vphi::runtime {
namespace {

using Clock = std::chrono::steady_clock;

struct State {
  std::mutex lock;
  int calls = 0, count = 0, done = 0;
  std::vector<std::string> names;
  Clock::time_point begun;
};

State& state() {
  static State one;
  return one;
}

std::atomic<std::int64_t>& compiled() {
  static std::atomic<std::int64_t> number = 0;
  return number;
}

}  // namespace

std::int64_t kernels_compiled() { return compiled(); }
void count_compilation() { ++compiled(); }

AtWork compilers_at_work() {
  State& s = state();
  const std::scoped_lock guard(s.lock);
  if (s.calls == 0) return {};
  return {s.count, s.done, s.names, std::chrono::duration<double>(Clock::now() - s.begun).count()};
}

CompilerCall::CompilerCall(int count) {
  State& s = state();
  const std::scoped_lock guard(s.lock);
  if (s.calls++ == 0) s.count = s.done = 0, s.begun = Clock::now();
  s.count += count;
}

CompilerCall::~CompilerCall() {
  State& s = state();
  const std::scoped_lock guard(s.lock);
  --s.calls;
}

KernelAtWork::KernelAtWork(std::string name) : name_(std::move(name)) {
  State& s = state();
  const std::scoped_lock guard(s.lock);
  s.names.push_back(name_);
}

KernelAtWork::~KernelAtWork() {
  State& s = state();
  const std::scoped_lock guard(s.lock);
  if (const auto at = std::ranges::find(s.names, name_); at != s.names.end()) s.names.erase(at);
  ++s.done;
}

}  // namespace vphi::runtime
