// One thread that writes while the run goes on.
//
// A Writer executes jobs in the order they were posted. Jobs hold what they write; `post` says how
// many bytes that is and waits while more than `limit` would lie in the queue (one job always
// fits), so that a slow disk slows the run down instead of filling the memory. The first failure is
// kept: jobs after it are dropped, and it is thrown by the next call of `post`, `wait` or `call`,
// and by each one after that. Whoever owns a Writer calls `wait` before saying that all is written;
// the destructor finishes the queue too, but cannot throw.
//
// HDF5 is not thread-safe: of all jobs of all Writers of a process only one runs at a time.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace vphi::io {

class Writer {
 public:
  using Job = std::function<void()>;

  /// `limit` 0: an eighth of the memory that is free now, at least 64 MB.
  explicit Writer(std::size_t limit = 0);
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  void post(std::size_t bytes, Job job);
  /// Until everything posted is done.
  void wait();
  /// After everything posted; returns when it is done. What the job throws is thrown here, and only
  /// here: later jobs go on.
  void call(const Job& job);
  /// The failure that has not been thrown yet; empty where there is none.
  std::string untold();
  /// Runs `body` here, while no Writer of the process runs a job.
  static void alone(const Job& body);
  /// Seconds for which `post` and `wait` held the caller up.
  double seconds_waited() const { return waited_; }

 private:
  struct Posted {
    std::size_t bytes;
    Job job;
  };
  void work();
  void rethrow();
  template <class Condition>
  void until(std::unique_lock<std::mutex>& lock, const Condition& condition);

  std::size_t limit_, queued_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Posted> jobs_;
  bool busy_ = false, closing_ = false;
  std::exception_ptr failure_;
  bool told_ = false;
  double waited_ = 0;
  std::thread thread_;  // last: it uses the members above
};

}  // namespace vphi::io
