// Which halos are filled after which launches of a lattice that ranks share.
//
// A kernel that reads an array across the cut axis needs the ghosts of that array. They are stale
// once a launch has written the array. They are filled after the last launch that writes it before
// the next one that reads it there, as deep as is read before it is written again. Where classes of
// sites lie apart (program::SiteOrder), each class is looked at by itself: an update of one colour
// sends its sites, and not those of others that the neighbours have already.
//
// Steps follow one another in their cycle, and the runtime may launch any other list between two of
// them. So at the end of a step ghosts are as deep as the next steps or any of these lists read. At
// the end of all other lists, and after a start, they are as deep as any kernel reads. In whatever
// order the runtime executes lists, a kernel finds the ghosts that it reads.
#pragma once

#include <array>
#include <map>

#include "compiler/model/plan.hpp"

namespace vphi::schedule {

/// Planes below and above a site that kernels read, for each buffer that is read across the axis.
using Reach = std::map<int, std::array<int, 2>>;

/// Of one kernel of a plan.
Reach reach_across(const Plan& plan, const kernel::Kernel& kernel, int axis);

/// Adds halos to every list of launches of a plan that has been cut.
void exchange(Plan& plan);

}  // namespace vphi::schedule
