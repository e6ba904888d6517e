// Several kernels in the place of one: what is common to long kernels in parts and wide sweeps.
#pragma once

#include <map>
#include <vector>

#include "compiler/model/plan.hpp"

namespace vphi::schedule {

/// What each of the kernels reads or makes again: what no other number of the site goes into.
bool is_read(const algebra::Node& node);

/// Declares the arrays that the kernel reads and writes: as it declared them before, and others as
/// the program describes them.
void declare_used(const Plan& plan, kernel::Kernel& kernel);

/// Adds a kernel to the plan. The result is its number.
int add_kernel(Plan& plan, kernel::Kernel kernel);

/// The kernels of steps, each once.
std::vector<int> kernels_of_steps(const Plan& plan);

/// Puts launches of other kernels in front of each launch of a kernel.
void launch_before(program::Program& program, const std::map<int, std::vector<int>>& others);

}  // namespace vphi::schedule
