// The kernels of a step as one launch that takes many steps, for systems so small that launches
// would take longer than what they do (kernel::Kernel::stages).
//
// The launch goes through the list of a step's kernels, often the same for each stage of the
// integrator, for as many steps as multi_step_slot says. The results are the same as with a launch
// for each kernel, which remains for devices that need it. Whether it is used on a
// device follows from counts (emit/patterns/persistent.hpp).
#pragma once

#include <optional>

#include "compiler/model/plan.hpp"

namespace vphi::schedule {

/// The launch, where the kernels of a step can be stages of one: they belong to a domain of one
/// axis (particles, chains), write in place, and no host is needed between them.
std::optional<kernel::Kernel> persistent_kernel_of(const Plan& plan);

/// Takes the launch into the plan. The kernels of the step are cut as its stages are.
void add_persistent(Plan& plan, kernel::Kernel persistent, kernel::Reach reach, int threads);

}  // namespace vphi::schedule
