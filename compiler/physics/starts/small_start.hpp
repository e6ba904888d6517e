// W0614: fields that f32 stores as a mean and fluctuations below 1e-5 of it, where an output shows
// the fluctuations.
#pragma once

#include <map>

#include "compiler/physics/fields/deviation_choice.hpp"
#include "compiler/physics/stages/program.hpp"

namespace vphi::physics {

/// `values`: fields that are not stored as deviations, by their arrays. The mean and the
/// fluctuations are those of `init`, where they are known numbers.
void warn_of_small_starts(const Program& d, const System& system,
                          const std::map<int, StoredAsValue>& values);

}  // namespace vphi::physics
