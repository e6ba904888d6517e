// A scale factor that the model prescribes as a formula of time.
#pragma once

#include <optional>

#include "compiler/physics/stages/space.hpp"

namespace vphi::physics {

/// a(t) at a time; none where the formula holds what is known in the run alone (what is swept).
std::optional<double> prescribed_scale(const Space& d, double time);

/// Fails with E0735 where a(t) is not positive during a run of this length (0: not known).
void check_prescribed(const Space& d, double duration);

}  // namespace vphi::physics
