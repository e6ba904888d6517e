// What a device can do at best, measured: copying memory and multiplying-adding.
//
// `vphi run` and `vphi bench` give speeds as a share of these. Copying moves a buffer much larger
// than the caches and counts bytes read and written; the best of several kernels and repetitions
// is taken. A measurement takes some tenths of a second and is kept in the code cache.
#pragma once

#include "runtime/device/device.hpp"

namespace vphi::runtime {

struct Ceilings {
  double copy_bytes_per_s = 0;  ///< read + written
  double f32_flops_per_s = 0;   ///< a fused multiply-add counts as two
  double f64_flops_per_s = 0;   ///< 0 where the device has no f64
  bool from_cache = false;
};

/// Throws DeviceError. `fresh` measures anew whatever the cache holds.
Ceilings measure(Device& device, bool fresh = false);
/// What the cache knows; zeros where nothing was measured yet. Costs a file read.
Ceilings known_ceilings(const DeviceInfo& info);

}  // namespace vphi::runtime
