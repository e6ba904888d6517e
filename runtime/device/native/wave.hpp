// Overlapping launches of one kernel: the tasks of a step follow those of the step before through
// the arrays, so that results are still in a cache when the next step reads them.
//
// A task may begin when the tasks near it have ended in the launch before: they write the numbers
// that it reads, and read those that it overwrites. Each launch has its own scalars, which the
// kernel's `finish` computes from those of the launch before; there are no sums.
//
// Threads take the items of one list in turn. An item waits only for items before it in the list,
// so there is no deadlock.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/device/native/thread_pool.hpp"

namespace vphi::runtime {

struct WaveKernel {
  ThreadPool::Task entry = nullptr;
  void (*finish)(void* const*) = nullptr;  ///< or null
  long tasks = 1;
  std::size_t scalars = 0;       ///< index of the scalars among the arguments
  std::size_t scalar_count = 0;  ///< number of scalars
};

/// Items (launch, task) in an order in which each comes after those that it waits for, with at
/// least `spare` other tasks between an item and the last that it waits for. Precondition: tasks >
/// 2*reach*(launches - 1).
std::vector<std::pair<int, long>> wave_order(int launches, long tasks, long reach, long spare);

/// Runs the launches and returns when all have ended. `arguments`: for each launch.
void run_wave(ThreadPool& pool, const WaveKernel& kernel,
              const std::vector<std::vector<void*>>& arguments, std::int64_t reach);

}  // namespace vphi::runtime
