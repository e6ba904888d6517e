// Any OpenCL device (1.2 or later), through the ICD loader opened at run time.
//
// Calling convention of a kernel (program::Kernel, Target::OpenCL): one __global pointer for each
// program::Argument, in order; where `shared_bytes` is not 0 and the kernel has one more parameter,
// this is a __local pointer to `shared_bytes` bytes. The grid counts work groups, the block work
// items. With contraction off (see host_compiler.hpp) the source is compiled under `#pragma OPENCL
// FP_CONTRACT OFF` and correctly rounded division where the device offers it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/device/device.hpp"

namespace vphi::runtime {

/// Devices of all platforms in the loader's order, "opencl:0", "opencl:1", ...; empty, with a
/// reason, where there is none.
std::vector<DeviceInfo> list_opencl(std::string* why = nullptr);
/// The device number `index`. Throws DeviceError.
std::unique_ptr<Device> open_opencl(int index);

}  // namespace vphi::runtime
