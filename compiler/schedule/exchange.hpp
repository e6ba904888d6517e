// Which halos are filled after which launches of a lattice that ranks share.
//
// A kernel that reads an array across the cut axis needs the ghosts of that array. They are stale
// once a launch has written the array. They are filled after the last launch that writes it before
// the next one that reads it there, and at the latest at the end of each list of launches. So
// between lists all of them are fresh, in whatever order the runtime executes the lists.
#pragma once

#include <array>
#include <map>

#include "compiler/model/plan.hpp"

namespace vphi::schedule {

/// Planes below and above a site that kernels read, for each buffer that is read across the axis.
using Reach = std::map<int, std::array<int, 2>>;

/// Of all kernels of a plan.
Reach reach_across(const Plan& plan, int axis);
/// Of one kernel of it.
Reach reach_across(const Plan& plan, const kernel::Kernel& kernel, int axis);

/// Adds halos to every list of launches of a plan that has been cut.
void exchange(Plan& plan);

}  // namespace vphi::schedule
