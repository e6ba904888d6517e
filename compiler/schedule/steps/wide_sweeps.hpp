// Sweeps over more arrays than a march of a GPU has registers for, as several sweeps.
//
// A march (emit/walks/march.hpp) keeps shares of the stencil sums of all its arrays in registers.
// Where a sweep has too many, it would read its neighbours from the caches instead, at two thirds
// of the speed. Its stores are then put into several sweeps, each of which is a march, so that the
// fewest numbers are moved. What they compute and in which order does not change; arrays that two
// of them read are read twice.
#pragma once

#include <cstdint>
#include <functional>

#include "compiler/model/plan.hpp"

namespace vphi::schedule {

/// Bytes that a launch moves from which a sweep is divided: it then takes more than ten times as
/// long as another launch.
inline constexpr std::int64_t kLeastBytesOfWideSweep = 1 << 25;

/// Divides the wide sweeps of steps; a remark names them. The last of the sweeps keeps the number
/// of the kernel, its name, its sums and what runs at its end. `marches`: whether a kernel is a
/// march on the device.
void divide_wide_sweeps(Plan& plan, const std::function<bool(const kernel::Kernel&)>& marches,
                        std::int64_t least_bytes = kLeastBytesOfWideSweep);

}  // namespace vphi::schedule
