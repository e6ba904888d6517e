// Many steps in one launch, for instances of a single site: ordinary and stochastic equations.
//
// Where a step is one sweep, and perhaps sweeps after it that only read, they become one kernel:
// what the later ones read are values that the first has computed. Then a copy of it takes many
// steps a launch, as many as the run loop asks for (program::Program::multi_step), with the state
// in registers. Three things make a step cheap:
//   - scalars that were computed ahead for the next step only (factors with dt) go back into the
//     expressions that use them, so that they are not values of every path;
//   - the kernel does not change an instance that has ended (Kernel::still), so that `stop`
//     is 0 wherever it is read and dt is a number;
//   - slots that agree in all instances are found (Kernel::common): time, step, numbers of steps in
//     an average. What depends on them alone is computed once for many paths.
// The single step is the same kernel, so that the numbers do not depend on how steps are taken.
// Nothing here can fail; where the conditions do not hold the plan stays as it is.
#pragma once

#include "compiler/model/plan.hpp"

namespace vphi::schedule {

inline constexpr const char* kMultiStep = "leap";  ///< slot with the steps of a launch of many

/// After the number of instances of the kernels is known. `single`: no launch of many steps, the
/// step as it would be with one.
void prepare_multi_step(Plan& plan, bool single = false);

/// Takes the kernel in as the launch of many steps: its slot, and its place beside the step's.
void add_multi_step(Plan& plan, kernel::Kernel multi_step);

}  // namespace vphi::schedule
