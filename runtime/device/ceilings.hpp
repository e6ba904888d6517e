// The measured peak rates of a device: memory copies and multiply-adds.
//
// `vphi run` and `vphi bench` give speeds as a share of these. Copying moves an array much larger
// than the caches and counts bytes read and written; the best of several kernels and repetitions
// is taken. The copy bandwidth is kept in the code cache, so that a machine measures it once;
// `known_copy_bandwidth` reads it and never measures. Measuring throws DeviceError.
#pragma once

#include <optional>

#include "runtime/device/device.hpp"

namespace vphi::runtime {

/// Bytes read plus written per second.
double measure_copy_bandwidth(Device& device);
/// Operations per second; a fused multiply-add counts as two. 0 where the precision is lacking.
double measure_flops(Device& device, program::Precision precision);
/// Special functions per second: quotients and exponentials in turn, on a GPU in f32 by its
/// approximate instructions; on processors quotients of vectors. 0 where the precision is lacking.
double measure_special(Device& device, program::Precision precision);
/// Seconds from the begin of one launch to the begin of the next, of kernels that do nothing, in a
/// recorded sequence as the launches of a step are.
double measure_launch(Device& device);

struct Ceilings {
  double copy = 0;                      ///< bytes read plus written per second
  double f32 = 0, f64 = 0;              ///< operations per second, an fma as two
  double special32 = 0, special64 = 0;  ///< special functions per second
  double launch = 0;                    ///< seconds
};
/// All of them, measured now and kept in the code cache.
Ceilings measure_ceilings(Device& device);
/// Those that were kept, else measured.
Ceilings known_ceilings(Device& device);

std::optional<double> known_copy_bandwidth(const DeviceInfo& info);
/// The known value, else measured and kept.
double copy_bandwidth(Device& device);

}  // namespace vphi::runtime
