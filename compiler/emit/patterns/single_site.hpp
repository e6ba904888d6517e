// Pattern for instances of a single site, ordinary and stochastic equations without a lattice: a
// thread takes an instance through many steps with its values and scalars in registers; on
// processors a vector takes several side by side.
//
// A round is as many steps as share the words of one block of random numbers; the number of the
// first step of a launch is a multiple of that (program::Program::leap). An instance's scalars are
// read and written once a launch; a kernel's reductions are over one site and its epilogue follows
// each step, as everywhere.
//
// What instances have in common (kernel/common_values.hpp) is a table of rows, a row a step: on
// GPUs the threads of a group make a row each and share it; on processors a task makes the table
// for all its instances. Steps end where the clock says that the run does.
#pragma once

#include "compiler/emit/text/frame.hpp"
#include "compiler/kernel/common_values.hpp"
#include "compiler/kernel/device.hpp"

namespace vphi::emit {

/// Many instances of one site, nothing read beyond an end that is not periodic.
bool is_single_site(const kernel::Kernel& kernel);
/// Steps whose random numbers come from the same blocks: 1, 2 or 4.
std::int64_t steps_together(const kernel::Kernel& kernel);
/// What a path computes, apart from what all have in common.
kernel::SiteFunction path_function(const kernel::Shared& shared, const TargetInfo& target);
/// `job` with scalars in private memory (make_job sees to it).
program::Kernel emit_single_site(const Job& job, const Bindings& bindings);
/// The same for a kernel with common slots.
program::Kernel emit_single_site_shared(const kernel::Kernel& kernel, const TargetInfo& target,
                                        const Bindings& bindings);

}  // namespace vphi::emit
