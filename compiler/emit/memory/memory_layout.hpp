// Layout of arrays in a GPU's memory.
//
// A plain array has one number a site, x fastest. Links and spinors have many numbers a site. With
// plain arrays a thread would read each number separately, and a sweep over the sites of a colour
// would use half of each cache line. On lattices of four dimensions, and for links of a Markov
// chain on any lattice, arrays that are always read and written together therefore share their
// memory, with 16 bytes a site and place. The sites of even and odd x + y + z + ... are stored
// separately, so that the threads of a warp read whole lines for their own sites and for their
// neighbours.
//
// These arrays are found from the kernels: they are accessed at the same offsets in every kernel.
// The host sees plain buffers (Session).
#pragma once

#include <span>

#include "compiler/emit/emit.hpp"

namespace vphi::emit {

/// Sets `bindings.places` and `bindings.order`, and the corresponding members of the program; needs
/// `bindings.buffer_of`. Does nothing on processors, or where no kernel gains.
/// Of a lattice that ranks share the kernels are those of the whole one: all ranks have the same
/// places. The order is then that of a rank's memory, ghosts included, where cuts and ghosts are
/// whole multiples of its classes.
void share_memory(std::span<const kernel::Kernel> kernels, const TargetInfo& target,
                  Bindings& bindings, program::Program& program);

}  // namespace vphi::emit
