// The transforms that device_fft.hpp chooses from.
#pragma once

#include "runtime/fft/device_fft.hpp"

namespace vphi::fft {

std::unique_ptr<DeviceTransform> make_cufft(runtime::Device& device, const Box& box,
                                            program::Precision precision, std::string* why);
std::unique_ptr<DeviceTransform> make_vkfft(runtime::Device& device, const Box& box,
                                            program::Precision precision, std::string* why);

}  // namespace vphi::fft
