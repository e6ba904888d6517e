// What a device can do at most, measured: copy bandwidth and multiply-adds.
//
// The progress line and `vphi bench` compare with these. The copy bandwidth is kept in the code
// cache's folder under the device's name and driver, so that a run measures it once a machine;
// whoever only asks (`known_copy_bandwidth`) never waits. Measuring throws DeviceError.
#pragma once

#include <optional>

#include "runtime/device/device.hpp"

namespace vphi::runtime {

/// Bytes read plus written per second by the best of some copies of a large array.
double measure_copy_bandwidth(Device& device);
/// Multiply-adds count two; 0 where the device lacks the precision.
double measure_flops(Device& device, program::Precision precision);

std::optional<double> known_copy_bandwidth(const DeviceInfo& info);
/// The known value, else measured and kept.
double copy_bandwidth(Device& device);

}  // namespace vphi::runtime
