#include "runtime/io/files/writer.hpp"

#include <algorithm>
#include <chrono>

#include "runtime/device/native/native.hpp"

namespace vphi::io {
namespace {

/// Held while a job runs: HDF5 keeps tables that all its files share.
std::mutex& library() {
  static std::mutex guard;
  return guard;
}

}  // namespace

Writer::Writer(std::size_t limit)
    : limit_(limit > 0 ? limit
                       : std::max<std::size_t>(std::size_t{64} << 20,
                                               runtime::native_info().memory_free / 8)),
      thread_([this] { work(); }) {}

Writer::~Writer() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Writer::rethrow() {
  if (!failure_) return;
  told_ = true;
  std::rethrow_exception(failure_);
}

std::string Writer::untold() {
  const std::lock_guard lock(mutex_);
  if (!failure_ || told_) return {};
  try {
    std::rethrow_exception(failure_);
  } catch (const std::exception& error) {
    return error.what();
  }
}

void Writer::alone(const Job& body) {
  const std::lock_guard library_lock(library());
  body();
}

template <class Condition>
void Writer::until(std::unique_lock<std::mutex>& lock, const Condition& condition) {
  if (condition()) return;
  const auto start = std::chrono::steady_clock::now();
  changed_.wait(lock, condition);
  waited_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void Writer::post(std::size_t bytes, Job job) {
  std::unique_lock lock(mutex_);
  until(lock, [&] { return failure_ || queued_ == 0 || queued_ + bytes <= limit_; });
  rethrow();
  queued_ += bytes;
  jobs_.push_back({bytes, std::move(job)});
  lock.unlock();
  changed_.notify_all();
}

void Writer::wait() {
  std::unique_lock lock(mutex_);
  until(lock, [&] { return failure_ || (jobs_.empty() && !busy_); });
  rethrow();
}

void Writer::call(const Job& job) {
  std::exception_ptr failed;
  post(0, [&] {
    try {
      job();
    } catch (...) {
      failed = std::current_exception();
    }
  });
  wait();
  if (failed) std::rethrow_exception(failed);
}

void Writer::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return closing_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    Posted next = std::move(jobs_.front());
    jobs_.pop_front();
    busy_ = true;
    const bool go = !failure_;
    lock.unlock();
    std::exception_ptr failed;
    if (go) try {
        const std::lock_guard library_lock(library());
        next.job();
      } catch (...) {
        failed = std::current_exception();
      }
    next.job = {};  // its memory is freed before the queue counts it as done
    lock.lock();
    busy_ = false;
    queued_ -= next.bytes;
    if (failed) failure_ = failed;
    changed_.notify_all();
  }
}

}  // namespace vphi::io
