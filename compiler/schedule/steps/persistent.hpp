// The kernels of a step as one launch that takes many steps, for systems so small that launches
// would take longer than what they do (kernel::Kernel::stages).
//
// The list of a step's launches is a round of kernels, often the same for each stage of the
// integrator; the launch goes through the round as often as leap_slot says. Nothing is computed
// otherwise than by launches for each kernel, which remain for devices that want them. Whether a
// device gains by it follows from counts (emit/patterns/persistent.hpp).
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
