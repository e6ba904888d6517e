#include "runtime/device/native/thread_pool.hpp"

#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace vphi::runtime {
namespace {

// Steps follow each other within microseconds, while waking a sleeping thread takes tens of them.
constexpr int kSpins = 4000;

void pause_once() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Waits until value != old: a while on the processor, then asleep.
void wait_while_equal(const std::atomic<std::uint32_t>& value, std::uint32_t old) {
  for (int i = 0; i < kSpins; ++i) {
    if (value.load(std::memory_order_acquire) != old) return;
    pause_once();
  }
  value.wait(old, std::memory_order_acquire);
}

}  // namespace

ThreadPool::ThreadPool(int threads)
    : threads_(std::max(1, threads)), shares_(std::make_unique<Share[]>(std::size_t(threads_))) {
  for (int i = 1; i < threads_; ++i) helpers_.emplace_back([this, i] { serve(i); });
}

ThreadPool::~ThreadPool() {
  stop_ = true;
  launch_.fetch_add(1, std::memory_order_release);
  launch_.notify_all();
}

void ThreadPool::run(long tasks, Task task, void* const* arguments) {
  if (tasks <= 1 || threads_ == 1) {
    for (long i = 0; i < tasks; ++i) task(arguments, i);
    return;
  }
  task_ = task;
  arguments_ = arguments;
  for (int i = 0; i < threads_; ++i) {
    shares_[i].next.store(tasks * i / threads_, std::memory_order_relaxed);
    shares_[i].end = tasks * (i + 1) / threads_;
  }
  busy_.store(std::uint32_t(threads_ - 1), std::memory_order_relaxed);
  launch_.fetch_add(1, std::memory_order_release);
  launch_.notify_all();
  work(0);
  for (std::uint32_t left = busy_.load(std::memory_order_acquire); left != 0;
       left = busy_.load(std::memory_order_acquire))
    wait_while_equal(busy_, left);
}

void ThreadPool::serve(int self) {
  std::uint32_t seen = 0;
  while (true) {
    wait_while_equal(launch_, seen);
    if (stop_) return;
    seen = launch_.load(std::memory_order_acquire);
    work(self);
    if (busy_.fetch_sub(1, std::memory_order_acq_rel) == 1) busy_.notify_one();
  }
}

void ThreadPool::work(int self) {
  for (int i = 0; i < threads_; ++i) {
    Share& share = shares_[(self + i) % threads_];
    while (true) {
      const long task = share.next.fetch_add(1, std::memory_order_relaxed);
      if (task >= share.end) break;
      task_(arguments_, task);
    }
  }
}

int usable_threads() {
  if (const char* wanted = std::getenv("VPHI_THREADS")) {
    const int n = std::atoi(wanted);
    if (n > 0) return std::min(n, 4096);
  }
  int count = int(std::max(1u, std::thread::hardware_concurrency()));
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) count = std::max(1, CPU_COUNT(&set));
  std::ifstream quota_file("/sys/fs/cgroup/cpu.max");  // "QUOTA PERIOD" or "max PERIOD"
  double quota = 0, period = 0;
  if (quota_file >> quota >> period && period > 0)
    count = std::clamp(int(quota / period + 0.5), 1, count);
  return count;
}

}  // namespace vphi::runtime
