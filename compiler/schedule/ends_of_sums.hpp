// Where the sums of a lattice that ranks share are added up: behind each launch of a kernel with
// sums of a rank comes one of the kernel that adds those of all ranks and has its epilogue, its
// end.
//
// Ranks send each other sums before an end. So ends wait for one another and for the planes that
// are sent, as long as nobody misses them: what kernels leave behind with their sums then goes in
// the same exchange. An end comes
//   - behind a launch whose planes are sent: with these,
//   - before a launch that reads what the end writes, or writes what it reads or writes: another
//     epilogue of the same scalars, the next launch of its own kernel, whose sums would be lost,
//   - before a launch that is computed while planes are sent (division.hpp),
//   - before a map or a solve, and at the end of the list.
// Ends keep their order, so all scalars have the bits that they have without waiting.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "compiler/model/plan.hpp"

namespace vphi::schedule {

/// The list with a launch of `end_of[k]` for each one of kernel k. `parts`: kernels that are
/// computed in parts (Division).
std::vector<program::Launch> with_ends_of_sums(const Plan& plan, std::vector<program::Launch> list,
                                               const std::map<int, int>& end_of,
                                               const std::set<int>& parts);

}  // namespace vphi::schedule
