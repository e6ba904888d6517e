// Pattern for CPUs: tasks are rows along x, vectorised inside.
//
// The rows around a site with equal weights are added first (algebra::RowPlan), into a buffer with
// margins for the periodic images, so that the inner loop over x has no branch. The terms of a
// reduction are stored in a buffer as well and then added in eight lanes. The order of the
// additions does not depend on the number of threads or the width of the vectors.
#pragma once

#include <functional>

#include "compiler/emit/text/frame.hpp"

namespace vphi::emit {

/// C++ (entry per task, finish once) or OpenCL on a CPU (one work item a task). A loop over the
/// sites of a task that replaces the loop over rows: the number of units of work, and its text for
/// a number of tasks.
struct Loop {
  std::int64_t units = 1;
  std::function<Code(std::int64_t tasks)> text;
  Code functions = {};     ///< at file scope
  std::int64_t tasks = 0;  ///< 0: chosen by the number of sites
  bool slabs = false;      ///< units follow the planes, and tasks end where slabs end
};

/// The place in memory of the row with the number `number` among those that are walked, where two
/// axes are cut; else the number, before which rows of ghosts may lie (units_below).
Code row_in_memory(const kernel::Kernel& kernel, const Code& number);

/// "12 + ": number of the first unit where the planes below it are ghosts; empty without ghosts.
/// `units`: of the planes that are walked.
Code units_below(const kernel::Kernel& kernel, std::int64_t units);

program::Kernel emit_rows(const Job& job, const Bindings& bindings, const Loop* loop = nullptr);
/// The source of a kernel that adds the `shares` of all ranks and computes the scalars, on a
/// processor; `job`: the kernel without its stores (emit_end); `place`: where the share with the
/// number `share` in the order of the lattice lies among them.
Code rows_end_text(const Job& job, std::int64_t shares, const Code& place);
/// That place. Ranks send shares plane by plane; those of several planes whose sites of a colour
/// are counted together follow one another in the order of the lattice.
Code place_of_share(const kernel::Kernel& kernel, std::int64_t shares);
/// Number of tasks of an instance.
std::int64_t row_tasks(const Job& job);
/// OpenCL on a CPU: the kernel as part of a launch of many steps. Threads take the tasks in turn.
Stage rows_stage(const Job& job, const Bindings& bindings);

}  // namespace vphi::emit
