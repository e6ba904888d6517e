// Moves the references of fields that are stored as deviations back to the means of the fields.
//
// P follows the homogeneous equation. Where other fields act back on the mean of the field, the
// mean departs from P, and a deviation d with a large mean loses the digits that were gained.
// Therefore the mean of d is computed every `kStepsBetweenRecentrings` steps. Where it is larger
// than the rms of d about it, it is subtracted from the array and added to P, and likewise for the
// momentum. The field, the sum of both, does not change. These are two sweeps over the arrays
// concerned, a small part of the work of so many steps.
#pragma once

#include "compiler/schedule/pipeline.hpp"
#include "compiler/schedule/steps/step.hpp"

namespace vphi::schedule {

inline constexpr int kStepsBetweenRecentrings = 128;

/// Empty where no field has a reference.
LoopSequence recentring(const physics::System& system, Slots& slots, Storage& storage);

}  // namespace vphi::schedule
