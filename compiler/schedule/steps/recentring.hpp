// Brings the references of fields that are stored as deviations back to the means of the fields.
//
// P moves by the homogeneous equation alone. Where other fields act back on the mean of the field,
// the mean leaves P, and a deviation that is a mean again has the digits of one. So every
// `kStepsBetweenRecentrings` steps the mean of d is taken, and where it is larger than the rms of d
// about it, it goes from the array to P, and that of the momentum to the momentum's. The sum of
// both is the field before and after. Two sweeps over these arrays alone: a small part of the work
// of so many steps.
#pragma once

#include "compiler/schedule/pipeline.hpp"
#include "compiler/schedule/steps/step.hpp"

namespace vphi::schedule {

inline constexpr int kStepsBetweenRecentrings = 128;

/// Empty where no field has a reference.
LoopSequence recentring(const physics::System& system, Slots& slots, Storage& storage);

}  // namespace vphi::schedule
