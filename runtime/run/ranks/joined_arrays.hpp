// What the first of the ranks that share a lattice makes of whole arrays, in its host's memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "program/program.hpp"

namespace vphi::runtime {

struct JoinedArrays {
  /// Names of outputs as they are written, then "the start of NAME"; each once.
  std::vector<std::string> what;
  std::int64_t bytes = 0;  ///< of the largest array of them
};

/// Outputs that are not made of planes of the slowest axis or of sums of all ranks, and initial
/// values that ranks do not draw themselves. `of_rank`: any of `ranks`.
JoinedArrays joined_arrays(const program::Program& of_rank, int ranks);

}  // namespace vphi::runtime
