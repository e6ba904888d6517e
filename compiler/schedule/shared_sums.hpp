// Sums that one observer of the synchronised state needs and another one computes.
//
// A kernel that sums over the sites takes clang seconds where its values are long, and what is
// expected of a run is often summed for an output too. The observer then launches the kernel of the
// output, and scalars of its own after it. Values are the same where they are the same expression
// after the passes; the bits are those of a kernel of its own. Nothing here can fail.
#pragma once

#include "compiler/schedule/linking.hpp"

namespace vphi::schedule {

/// The number of kernels at the start of `wanted` whose sums the kernel of the same place in `made`
/// computes, at little more cost and storing at most scratch memory. 0 where a kernel of its own
/// compiles in no time.
std::size_t shared_sums(const Linked& wanted, const Linked& made, const Storage& storage);

/// Scalars after the kernel `made` in the place of `wanted`: the sums under the names that `wanted`
/// gives them, then its epilogue.
Assigns after_shared(const kernel::Kernel& wanted, const kernel::Kernel& made,
                     algebra::Arena& arena);

}  // namespace vphi::schedule
