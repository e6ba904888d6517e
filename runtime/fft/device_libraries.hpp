// The transforms among which device_fft.hpp chooses.
#pragma once

#include "runtime/fft/device_fft.hpp"

namespace vphi::fft {

std::unique_ptr<DeviceTransform> make_cufft(runtime::Device& device, const Box& box,
                                            program::Precision precision, std::string* why);
DeviceHalves cufft_halves(runtime::Device& device, const Box& box, std::int64_t planes,
                          std::int64_t columns, std::string* why);
std::unique_ptr<DeviceTransform> make_vkfft(runtime::Device& device, const Box& box,
                                            program::Precision precision, std::string* why);

}  // namespace vphi::fft
