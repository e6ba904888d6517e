// Fourier transforms of real boxes in a device's memory, so that no field has to be copied.
//
// A DeviceTransform is a plan for one box and one precision: cuFFT on CUDA, VkFFT on OpenCL (both
// opened at run time, both optional), or the host's transform with copies to the host and back. It
// owns its plan and its work memory on the device; the caller owns the box. Calls are queued like
// launches.
//
// Layout: in place. A row along x has N_x/2 + 1 complex numbers, or 2*(N_x/2 + 1) real numbers of
// which the first N_x are used; rows are contiguous. Sign and normalisation as in fft.hpp. Failures
// of the device throw DeviceError. A library that is absent or refuses the box is not an error:
// `make` then returns null and says why.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "runtime/device/device.hpp"
#include "runtime/fft/fft.hpp"

namespace vphi::fft {

class DeviceTransform {
 public:
  virtual ~DeviceTransform() = default;
  virtual void forward(runtime::BufferHandle box) = 0;
  virtual void inverse(runtime::BufferHandle box) = 0;
  /// "cuFFT 12.0", "VkFFT", "FFTW on the host".
  virtual std::string name() const = 0;
};

/// Bytes of a box in the layout above.
std::size_t padded_bytes(const Box& box, program::Precision precision);

/// A transform by the device's library; null, with a reason, where there is none.
std::unique_ptr<DeviceTransform> make_device_transform(runtime::Device& device, const Box& box,
                                                       program::Precision precision,
                                                       std::string* why = nullptr);
/// The two halves of the transform of a box that ranks share (fft.hpp), in f64: so many planes, in
/// the layout above, and complex columns side by side. Null, with a reason, where the device's
/// library has none: cuFFT alone has them.
struct DeviceHalves {
  std::unique_ptr<DeviceTransform> planes, columns;
};
DeviceHalves make_device_halves(runtime::Device& device, const Box& box, std::int64_t planes,
                                std::int64_t columns, std::string* why = nullptr);
/// The same on the host, for any device.
DeviceHalves make_host_halves(runtime::Device& device, const Box& box, std::int64_t planes,
                              std::int64_t columns, int threads);

/// A transform on the host, for any device.
std::unique_ptr<DeviceTransform> make_host_transform(runtime::Device& device, const Box& box,
                                                     program::Precision precision, int threads);

/// The library for this kind of device with its version, or the reason why there is none.
std::string cufft_description();
std::string vkfft_description();

}  // namespace vphi::fft
