// Threads that run the tasks of native kernels.
//
// A launch is a number of independent tasks. Every thread starts with a contiguous share of them,
// the same at every launch, so that it finds its part of the lattice in its own cache; a thread
// that is done takes tasks from the others. `run` returns when all tasks are done. One run at a
// time.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

namespace vphi::runtime {

class ThreadPool {
 public:
  using Task = void (*)(void* const* arguments, long task);

  /// The calling thread of `run` is one of `threads`.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return threads_; }
  void run(long tasks, Task task, void* const* arguments);

 private:
  struct alignas(64) Share {
    std::atomic<long> next{0};
    long end = 0;
  };
  void serve(int self);
  void work(int self);

  int threads_;
  std::unique_ptr<Share[]> shares_;
  Task task_ = nullptr;
  void* const* arguments_ = nullptr;
  alignas(64) std::atomic<std::uint32_t> launch_{0};  ///< changes when a launch is ready
  alignas(64) std::atomic<std::uint32_t> busy_{0};    ///< threads still at work
  std::atomic<bool> stop_{false};
  std::vector<std::jthread> helpers_;
};

/// Number of processors that this process may use: $VPHI_THREADS, or else by affinity and the quota
/// of the control group.
int usable_threads();

}  // namespace vphi::runtime
