// Kernels that compute a part of a rank's planes (compiler/schedule/division.hpp): both ends of the
// rank, and the rest. The launch of a rest comes after those of its ends, and ghosts of what the
// ends have written are filled between. It touches nothing that is sent or received then, nor what
// its ends write, so it may run at the same time as its ends and that exchange.
//
// A kernel says what it is at the end of its source. Parts with a Counter argument count their
// groups in the word of kernel Argument::index, so that the last group of all of them does what the
// kernel does to scalars at its end.
#pragma once

#include "program/program.hpp"

namespace vphi::program {

enum class Part { Whole, End, Rest };

Part part_of(const Kernel& kernel);
/// Precondition: it is Whole.
void mark_part(Kernel& kernel, Part part);

/// The kernel in whose word a kernel counts its groups, which is itself but for parts.
int counts_in(const std::vector<Kernel>& kernels, int kernel, const Argument& counter);

}  // namespace vphi::program
