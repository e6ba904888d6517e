// Where the numbers of a site lie in a GPU's memory.
//
// A plain array has one number a site, x fastest. Where sites hold many numbers, links and spinors
// on lattices of four dimensions and links of a Markov chain on any, a thread would read each by
// itself, and a sweep over the sites of a colour would use half of each line of memory. There
// arrays that are always read and written together share their memory, 16 bytes a site and place,
// and the sites of even and odd x + y + z + ... lie apart, so that the threads of a warp, and the
// neighbours that they read, each take whole lines.
//
// Which arrays those are is found from what the kernels do with them: the same offsets in every
// kernel. The host sees buffers as before (Session).
#pragma once

#include <span>

#include "compiler/emit/emit.hpp"

namespace vphi::emit {

/// Fills `bindings.places` and `bindings.order`, and the same of `buffers` and `order` of the
/// program; `bindings.buffer_of` is there. Nothing on processors, and where no kernel gains.
void share_memory(std::span<const kernel::Kernel> kernels, const TargetInfo& target,
                  Bindings& bindings, program::Program& program);

}  // namespace vphi::emit
