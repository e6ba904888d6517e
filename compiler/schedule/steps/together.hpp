// Several steps in one pass over memory, for steps without sums over the box.
//
// A step that is one sweep without sums reads the state near a site and scalars, and the scalars of
// the next step follow from these scalars. Several steps can therefore be made in one part of the
// box before the next part is read. On a GPU a group of threads makes them on a tile, including a
// margin around it (kernel::Kernel::together). On a processor successive sweeps overlap
// (program::Program::together_reach). The method and the number of steps depend on the device
// (emit/walks/march_steps.hpp, emit/patterns/wave.hpp); this header checks what the launches of a
// step allow.
#pragma once

#include <string>

#include "compiler/model/plan.hpp"

namespace vphi::schedule {

/// The kernel that is a whole step, where steps may be combined; otherwise null, with the reason in
/// `why`, a phrase that follows "one pass for each step: ".
const kernel::Kernel* together_candidate(const Plan& plan, std::string& why);

/// The kernel of `steps` steps. Arrays that it reads and writes have two buffers, because
/// neighbouring groups read the old values.
kernel::Kernel kernel_of_steps(const kernel::Kernel& kernel, int steps);

/// Adds the kernel of `steps` steps to the plan, with second copies of its arrays.
void add_together(Plan& plan, int steps);
/// Adds `steps` launches of the step that overlap on a processor.
void add_wave(Plan& plan, int steps, std::int64_t reach);

}  // namespace vphi::schedule
