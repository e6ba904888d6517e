// Many steps in one launch, for instances of a single site: ordinary and stochastic equations.
//
// Where a step is one sweep, possibly followed by sweeps that only read, these become one kernel,
// because the later ones read values that the first has computed. A copy of this kernel takes as
// many steps a launch as the run loop requests (program::Program::multi_step), with the state in
// registers. Three changes make a step cheap:
//   - scalars that were computed ahead for the next step only (factors with dt) go back into the
//     expressions that use them, so that they are not values of every path;
//   - the kernel does not change an instance that has ended (Kernel::still), so that `stop`
//     is 0 wherever it is read and dt is a number;
//   - slots that agree in all instances are found (Kernel::common): time, step, numbers of steps in
//     an average. What depends on them alone is computed once for many paths.
// The single step is the same kernel, so the results do not depend on the number of steps in a
// launch. Nothing here can fail; where the conditions do not hold the plan is unchanged.
#pragma once

#include "compiler/model/plan.hpp"

namespace vphi::schedule {

/// Slot with the number of steps of a launch.
inline constexpr const char* kMultiStep = "multi_step";

/// Called when the number of instances of the kernels is known. `single`: the same step, without a
/// launch of many steps.
void prepare_multi_step(Plan& plan, bool single = false);

/// Adds the kernel to the plan as the launch of many steps, with its slot.
void add_multi_step(Plan& plan, kernel::Kernel multi_step);

}  // namespace vphi::schedule
