// Pattern for CPUs: tasks of rows along x, vectorised inside.
//
// The rows around a site that have equal weights are added first (algebra::RowPlan), into a buffer
// with a margin for the wrap, so that the inner loop over x has neither a wrap nor a branch. What a
// reduction takes from a row goes to a buffer too and from there into eight lanes: the order of the
// additions is fixed, whatever the number of threads or the width of the vectors.
#pragma once

#include <functional>

#include "compiler/emit/text/frame.hpp"

namespace vphi::emit {

/// C++ (entry per task, finish once) or OpenCL on a CPU (one work item a task).
/// Another loop over the sites of a task in the place of the one over rows: how many units it cuts
/// the work into, and its text for a number of tasks.
struct Loop {
  std::int64_t units = 1;
  std::function<Code(std::int64_t tasks)> text;
  Code functions = {};     ///< at file scope
  std::int64_t tasks = 0;  ///< 0: as many as the number of sites says
};

program::Kernel emit_rows(const Job& job, const Bindings& bindings, const Loop* loop = nullptr);
/// Tasks of an instance.
std::int64_t row_tasks(const Job& job);
/// OpenCL on a CPU: its part in a launch of many steps. Task k is thread k's, in turn.
Stage rows_stage(const Job& job, const Bindings& bindings);

}  // namespace vphi::emit
