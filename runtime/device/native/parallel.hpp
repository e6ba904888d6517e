// Runs a few independent pieces of host work, such as compiling kernels, on several threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <numeric>
#include <thread>
#include <vector>

namespace vphi::runtime {

/// Calls body(i) for i in 0..count-1, on at most `threads` threads; rethrows the first exception.
template <class Body>
void parallel_for(int count, int threads, const Body& body) {
  if (threads > count) threads = count;
  if (threads <= 1) {
    for (int i = 0; i < count; ++i) body(i);
    return;
  }
  std::atomic<int> next{0};
  std::mutex lock;
  std::exception_ptr failure;
  const auto work = [&] {
    for (int i = next++; i < count; i = next++) {
      try {
        body(i);
      } catch (...) {
        const std::scoped_lock guard(lock);
        if (!failure) failure = std::current_exception();
      }
    }
  };
  std::vector<std::jthread> helpers;
  for (int i = 1; i < threads; ++i) helpers.emplace_back(work);
  work();
  helpers.clear();
  if (failure) std::rethrow_exception(failure);
}

/// 0..n-1 with the largest first: a long piece that begins last would run alone.
template <class Size>
std::vector<int> largest_first(int count, const Size& size) {
  std::vector<int> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return size(a) > size(b); });
  return order;
}

}  // namespace vphi::runtime
