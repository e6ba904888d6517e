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

std::optional<double> known_copy_bandwidth(const DeviceInfo& info);
/// The known value, else measured and kept.
double copy_bandwidth(Device& device);

}  // namespace vphi::runtime
