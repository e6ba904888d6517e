// The least time of a launch on a device whose ceilings are known: the roofline of a kernel.
//
// Four things take time and overlap within a kernel: moving its bytes, its arithmetic instructions,
// its special functions, and the launch itself. The longest of them is the kernel's limit; a step
// cannot be faster than the sum of the limits of its launches. Costs are the compiler's counts
// (program::Kernel), ceilings are measured (ceilings.hpp). A launch with fewer groups of threads
// than the device has processors can use the share of arithmetic that its groups have.
#pragma once

#include <string_view>

#include "program/program.hpp"
#include "runtime/device/ceilings.hpp"

namespace vphi::runtime {

/// Seconds.
struct Limits {
  double memory = 0, arithmetic = 0, special = 0, launch = 0;
  double longest() const;
  /// "memory", "arithmetic", "special functions" or "launch": which of them is the longest.
  std::string_view name() const;
};

/// Of one launch; `units`: processors of the device (DeviceInfo::compute_units).
Limits limits(const program::Kernel& kernel, const Ceilings& ceilings, int units);

/// Of a step of a program.
struct StepLimits {
  Limits sum;                   ///< over the launches of a step, each limit for itself
  double seconds = 0;           ///< sum of the launches' longest limits
  std::string_view name;        ///< the limit that most of `seconds` belongs to
  double flops = 0, bytes = 0;  ///< a site and step, as the compiler counts them
};
/// `together`: steps of a launch where the program has launches of many steps, whose arrays stay in
/// registers or in a cache in between. Iterations of linear solves are not counted.
StepLimits step_limits(const program::Program& program, std::int64_t together,
                       const Ceilings& ceilings, int units);

/// Groups of 32 threads that a multiprocessor of a CUDA device holds, over the 64 that it could
/// hold, as far as registers decide; 0 where their number is unknown.
double occupancy_of_registers(int registers);

}  // namespace vphi::runtime
