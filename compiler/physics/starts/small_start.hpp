// W0614: fields that f32 stores as a mean and fluctuations below 1e-5 of it, where an output shows
// the fluctuations.
#pragma once

#include "compiler/physics/stages/program.hpp"

namespace vphi::physics {

/// Fields that are stored as deviations are excepted. The mean and the fluctuations are those of
/// `init`, where they are known numbers.
void warn_of_small_starts(const Program& d, const System& system);

}  // namespace vphi::physics
