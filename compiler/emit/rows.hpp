// Pattern for CPUs: tasks of rows along x, vectorised inside.
//
// The rows around a site that have equal weights are added first (algebra::RowPlan), into a buffer
// with a margin for the wrap, so that the inner loop over x has neither a wrap nor a branch. What a
// reduction takes from a row goes to a buffer too and from there into eight lanes: the order of the
// additions is fixed, whatever the number of threads or the width of the vectors.
#pragma once

#include "compiler/emit/frame.hpp"

namespace vphi::emit {

/// C++ (entry per task, finish once) or OpenCL on a CPU (one work item a task).
program::Kernel emit_rows(const Job& job, const Bindings& bindings);

}  // namespace vphi::emit
