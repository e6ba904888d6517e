// Several steps in one pass over memory, where nothing has to be known of the whole box between
// them.
//
// A step that is one sweep without sums reads neighbours of the state and the scalars of the step,
// and the scalars of the next step follow from these alone. So the steps behind it can be made at
// one place before the sweep has come to the next: a group of threads makes them on a tile whose
// edges it computes as well (kernel::Kernel::together), and on a processor the sweeps follow each
// other through the box (program::Program::together_reach). Which of the two, and how many steps,
// is the device's matter (emit/walks/march_steps.hpp, emit/patterns/wave.hpp); here is what the
// list of a step's launches allows.
#pragma once

#include <string>

#include "compiler/model/plan.hpp"

namespace vphi::schedule {

/// The kernel that is the whole of a step, where steps may be made together; else null, with the
/// reason in `why`: words that follow "one pass for each step: ".
const kernel::Kernel* together_candidate(const Plan& plan, std::string& why);

/// How the kernel of `steps` steps differs from that of one: what is read and written has two
/// buffers, since neighbouring groups read what it was before.
kernel::Kernel kernel_of_steps(const kernel::Kernel& kernel, int steps);

/// Takes the kernel of `steps` steps into the plan, with second copies of its arrays.
void add_together(Plan& plan, int steps);
/// The same as launches of the step, which overlap on a processor.
void add_wave(Plan& plan, int steps, std::int64_t reach);

}  // namespace vphi::schedule
