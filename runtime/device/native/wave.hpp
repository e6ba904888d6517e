// Launches of one kernel that overlap: the tasks of a step follow those of the step before through
// the arrays, so that what one has written is still in a cache when the next reads it.
//
// A task may begin when the tasks near it have ended in the launch before: they have written what
// it reads, and read what it overwrites. Each launch has scalars of its own, which the kernel's
// `finish` makes of those of the launch before: there are no sums, so nothing else enters them.
//
// Threads take the items of one list in turn. An item waits for items before it alone, so somebody
// always goes on.
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
  std::size_t scalars = 0;       ///< place of the scalars among the arguments
  std::size_t scalar_count = 0;  ///< numbers there
};

/// (launch, task) in an order in which each item comes behind those that it waits for, with `spare`
/// further tasks between a task and the last that it waits for. More than 2*reach*(launches - 1)
/// tasks.
std::vector<std::pair<int, long>> wave_order(int launches, long tasks, long reach, long spare);

/// `arguments`: of each launch. Returns when all have ended.
void run_wave(ThreadPool& pool, const WaveKernel& kernel,
              const std::vector<std::vector<void*>>& arguments, std::int64_t reach);

}  // namespace vphi::runtime
