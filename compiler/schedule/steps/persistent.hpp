// One launch that takes many steps with all their kernels, for systems so small that a launch takes
// longer than its work (kernel::Kernel::stages).
//
// The launch executes the list of a step's kernels, often the same for each stage of the
// integrator, for the number of steps in multi_step_slot. The results are the same as with a launch
// for each kernel, which is still used on other devices. The choice is made by counts
// (emit/patterns/persistent.hpp).
#pragma once

#include <optional>

#include "compiler/model/plan.hpp"

namespace vphi::schedule {

/// The launch; nothing where the kernels of a step cannot be its stages. They must belong to a
/// domain of one axis (particles, one-dimensional lattices), write in place, and need no action of
/// the host between them.
std::optional<kernel::Kernel> persistent_kernel_of(const Plan& plan);

/// Adds the launch to the plan. The separate kernels of the step get the same groups and threads as
/// its stages.
void add_persistent(Plan& plan, kernel::Kernel persistent, kernel::Reach reach, int threads);

}  // namespace vphi::schedule
