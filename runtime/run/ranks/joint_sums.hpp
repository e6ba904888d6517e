// Kernels that add the sums of all ranks often follow one another. Their sums are gathered at once.
#pragma once

#include <cstddef>
#include <vector>

#include "program/program.hpp"

namespace vphi::runtime {

/// Whether a kernel reads the sums of ranks, and no array: then no launch changes its arguments but
/// one of the kernel whose sums they are.
bool adds_sums(const program::Kernel& kernel);

/// The end of the launches from `first` on, at least of one, whose wishes of other ranks are met by
/// one exchange before `first`: several that add sums and follow one another.
std::size_t end_of_joint(const program::Program& program, const std::vector<program::Launch>& list,
                         std::size_t first);

}  // namespace vphi::runtime
