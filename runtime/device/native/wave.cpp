#include "runtime/device/native/wave.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>

namespace vphi::runtime {
namespace {

struct Work {
  const WaveKernel* kernel = nullptr;
  std::vector<std::pair<int, long>> order;
  std::vector<std::vector<void*>> arguments;
  std::unique_ptr<std::atomic<bool>[]> ended;  ///< [launch][task]
  std::atomic<std::size_t> next{0};
  long reach = 1;

  std::atomic<bool>& flag(int launch, long task) {
    const long n = kernel->tasks;
    return ended[static_cast<std::size_t>(launch * n + (task % n + n) % n)];
  }

  void wait(int launch, long task) {
    if (launch == 0) return;
    for (long near = task - reach; near <= task + reach; ++near) {
      std::atomic<bool>& before = flag(launch - 1, near);
      while (!before.load(std::memory_order_acquire)) std::this_thread::yield();
    }
  }

  void serve() {
    for (;;) {
      const std::size_t item = next.fetch_add(1, std::memory_order_relaxed);
      if (item >= order.size()) return;
      const auto [launch, task] = order[item];
      wait(launch, task);
      kernel->entry(arguments[static_cast<std::size_t>(launch)].data(), task);
      flag(launch, task).store(true, std::memory_order_release);
    }
  }
};

}  // namespace

std::vector<std::pair<int, long>> wave_order(int launches, long tasks, long reach, long spare) {
  std::vector<std::pair<int, long>> order;
  order.reserve(static_cast<std::size_t>(launches) * static_cast<std::size_t>(tasks));
  const long lag = reach + spare;
  // launch l takes the tasks whose neighbours are done in the launch before
  for (long i = 0; i < tasks + (launches - 1) * lag; ++i)
    for (int l = 0; l < launches; ++l) {
      const long task = i - l * lag;
      if (task >= l * reach && task < tasks - l * reach) order.emplace_back(l, task);
    }
  // and then the tasks about the first and the last one, which are neighbours
  for (int l = 1; l < launches; ++l)
    for (long task = tasks - l * reach; task < tasks + l * reach; ++task)
      order.emplace_back(l, task % tasks);
  return order;
}

void run_wave(ThreadPool& pool, const WaveKernel& kernel,
              const std::vector<std::vector<void*>>& arguments, std::int64_t reach) {
  const auto launches = static_cast<int>(arguments.size());
  Work work;
  work.kernel = &kernel;
  work.reach = static_cast<long>(reach);
  work.order = wave_order(launches, kernel.tasks, work.reach, pool.threads());
  work.arguments = arguments;
  const std::size_t flags = arguments.size() * static_cast<std::size_t>(kernel.tasks);
  work.ended = std::make_unique<std::atomic<bool>[]>(flags);

  // the scalars of each launch, and after them those that the last one leaves
  auto* const scalars = static_cast<double*>(arguments.front()[kernel.scalars]);
  std::vector<std::vector<double>> own(arguments.size() + 1);
  own.front().assign(scalars, scalars + kernel.scalar_count);
  for (std::size_t l = 0; l < arguments.size(); ++l) {
    work.arguments[l][kernel.scalars] = own[l].data();
    own[l + 1] = own[l];
    std::vector<void*> next = work.arguments[l];
    next[kernel.scalars] = own[l + 1].data();
    if (kernel.finish) kernel.finish(next.data());
  }

  void* const all[] = {&work};
  pool.run(
      pool.threads(), [](void* const* a, long) { static_cast<Work*>(a[0])->serve(); }, all);
  std::copy(own.back().begin(), own.back().end(), scalars);
}

}  // namespace vphi::runtime
