// The measured peak rates of a device: memory copies and multiply-adds.
//
// `vphi run` and `vphi bench` give speeds as a share of these. Copying moves an array much larger
// than the caches and counts bytes read and written; the best of several kernels and repetitions is
// taken. The copy bandwidth is stored in the code cache, so that it is measured once on a machine;
// `known_copy_bandwidth` only reads it. Measuring throws DeviceError.
#pragma once

#include <optional>
#include <vector>

#include "runtime/device/device.hpp"

namespace vphi::runtime {

/// Bytes read plus written per second.
double measure_copy_bandwidth(Device& device);
/// Operations per second; a fused multiply-add counts as two. 0 where the precision is lacking.
double measure_flops(Device& device, program::Precision precision);
/// Special functions per second. On GPUs quotients alternate with exponentials, in f32 by
/// approximate instructions; on processors they are quotients of vectors. 0 where the device lacks
/// the precision.
double measure_special(Device& device, program::Precision precision);
/// Seconds until the next instruction of a chain can use what an operation gives, in one thread
/// that has nothing else to do: a multiply-add, or a quotient, the special function that is over
/// first. 0 where the device lacks the precision.
double measure_latency(Device& device, program::Precision precision);
double measure_special_latency(Device& device, program::Precision precision);
/// Seconds between the starts of two successive launches of empty kernels, in a recorded sequence
/// as for the launches of a step.
double measure_launch(Device& device);

/// Copies whose arrays stay in the device's caches.
struct CacheRate {
  double bytes = 0;  ///< of both arrays
  double rate = 0;   ///< bytes read plus written per second, launches included
};
/// Copies the same arrays again and again, in sizes that double, as the launches of steps do.
/// `copy`: the rate of memory; sizes are those whose rate is a tenth above it, the smallest
/// first, and their rates do not grow with the size.
std::vector<CacheRate> measure_caches(Device& device, double copy);

struct Ceilings {
  double copy = 0;                      ///< bytes read plus written per second
  std::vector<CacheRate> caches;        ///< none where no size is faster than memory
  double f32 = 0, f64 = 0;              ///< operations per second, an fma as two
  double special32 = 0, special64 = 0;  ///< special functions per second
  double launch = 0;                    ///< seconds
  /// Seconds of an operation in a chain of operations that wait for each other.
  double latency32 = 0, latency64 = 0, special_latency32 = 0, special_latency64 = 0;
  /// The rate at which launches move arrays of so many bytes in all; 0: more than a cache holds.
  double rate_of(double arrays) const;
};
/// Measures all of them and stores them in the code cache.
Ceilings measure_ceilings(Device& device);
/// The stored values; measured where there are none.
Ceilings known_ceilings(Device& device);

std::optional<double> known_copy_bandwidth(const DeviceInfo& info);
/// The stored value; measured and stored where there is none.
double copy_bandwidth(Device& device);

}  // namespace vphi::runtime
