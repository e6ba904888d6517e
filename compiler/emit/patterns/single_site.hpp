// Pattern for instances of a single site, ordinary and stochastic equations without a lattice: a
// thread takes an instance through many steps with its values and scalars in registers. On
// processors a vector takes several instances side by side.
//
// Steps that share the words of one block of random numbers are unrolled together; the number of
// the first step of a launch is a multiple of their number (program::Program::multi_step_unit). An
// instance's scalars are read and written once a launch. The epilogue runs after each step;
// reductions are over one site.
//
// Values common to all instances (kernel/common_values.hpp) are in a table with a row for each
// step. On GPUs each thread of a group computes one row for all; on processors a task computes the
// table for all its instances. The clock determines the end of the run.
#pragma once

#include "compiler/emit/text/frame.hpp"
#include "compiler/kernel/common_values.hpp"
#include "compiler/kernel/device.hpp"

namespace vphi::emit {

/// Whether the kernel is for many instances of a single site, and reads nothing across a boundary
/// that is not periodic.
bool is_single_site(const kernel::Kernel& kernel);
/// Steps whose random numbers come from the same blocks: 1, 2 or 4.
std::int64_t steps_together(const kernel::Kernel& kernel);
/// The computation of an instance, without the common values.
kernel::SiteFunction path_function(const kernel::Shared& shared, const TargetInfo& target);
/// Precondition: the scalars of `job` are in private memory (make_job).
program::Kernel emit_single_site(const Job& job, const Bindings& bindings);
/// The same for a kernel with common slots.
program::Kernel emit_single_site_shared(const kernel::Kernel& kernel, const TargetInfo& target,
                                        const Bindings& bindings);

}  // namespace vphi::emit
