// Divides launches of a lattice that ranks share into what their neighbours wait for and the rest.
//
// A launch whose planes others want next becomes two: of the planes at both ends of the rank, and
// of all between. Ghosts are filled after the first. The second neither reads ghosts nor writes a
// plane that is sent, so a device may compute it while planes are on their way (program/parts.hpp).
// What the kernel did to scalars at its end is done when both parts have read them: by the last
// group of threads of both, or by a launch that comes last. One after the other they do what the
// launch did: every site is computed once, of the same values.
//
// Why both may also run at the same time:
//   - Ends are as deep as neighbours read and as the kernel itself reads. So what is sent, and what
//     is copied to ghosts beyond an end of the lattice, are planes of the ends. The rest reads own
//     planes alone, and nothing but the exchange writes ghosts.
//   - Where stores go to the other copy of an array, both read the copy that none writes. After
//     the first the copies are exchanged, as ghosts of the new one are wanted; the rest
//     therefore has the names of the two copies the other way round (`exchanged`).
//   - Where stores go in place and neighbours are read, sites have colours, and no site of a colour
//     reads what another one of it stores (kernel::Colours). Else a site reads its own numbers.
//   - Scalars are written when nothing reads them any more: kernels with sums are not divided, and
//     an epilogue comes after the rest, or with the last group, which has seen all others end.
//
// What is divided follows from the plan and from the number of planes of the rank that has fewest,
// so that all ranks do the same. Steps and the rounds of solves are divided.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <vector>

#include "compiler/model/plan.hpp"

namespace vphi::schedule {

/// The parts, by their numbers in Plan::kernels.
struct Division {
  std::set<int> ends;
  /// Of a rest: the buffers whose two copies were exchanged since the kernel that it is a part of
  /// would have begun.
  std::map<int, std::vector<int>> rests;
  /// Parts whose groups count together, the last of which has the epilogue.
  std::vector<std::vector<int>> counted;
};

/// After the halos are placed (exchange.hpp). `divisible`: whether it pays for a kernel, as the
/// device walks over its sites. `counts`: the device counts the groups of threads of a launch, so
/// that those of several may count together.
Division divide(Plan& plan, int ranks, const std::function<bool(const kernel::Kernel&)>& divisible,
                bool counts);

}  // namespace vphi::schedule
