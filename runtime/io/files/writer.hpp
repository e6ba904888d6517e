// A thread that writes files during a run.
//
// A Writer executes jobs in the order they were posted. A job owns the data that it writes. `post`
// is told their size, and waits while the queue would hold more than `limit` bytes (one job always
// fits). A slow disk thus slows the run down and does not fill the memory. After the first failure
// later jobs are dropped, and every later call of `post`, `wait` or `call` throws it. The owner of
// a Writer must call `wait` before it reports success; the destructor also finishes the queue, but
// cannot throw.
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

  /// `limit` 0: an eighth of the free memory, at least 64 MB.
  explicit Writer(std::size_t limit = 0);
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  void post(std::size_t bytes, Job job);
  /// Waits until all posted jobs are done.
  void wait();
  /// Runs the job after all posted ones and returns when it is done. Its exception is thrown here
  /// only; later jobs are executed.
  void call(const Job& job);
  /// A failure that has not been thrown yet; empty where there is none.
  std::string untold();
  /// Runs `body` in the calling thread, while no Writer of the process runs a job.
  static void alone(const Job& body);
  /// Seconds for which `post` and `wait` have delayed the caller.
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
