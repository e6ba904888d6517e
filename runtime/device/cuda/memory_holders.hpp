// Who holds the memory of an NVIDIA GPU, for messages.
#pragma once

#include <string>

#include "runtime/device/device.hpp"

namespace vphi::runtime {

/// "60.2 GB are held by process 4711 (python3), 1.1 GB by this process". What the driver does not
/// assign to processes, as in containers, is "in use, by other processes or by other libraries of
/// this one". Empty for other devices, and where little is held.
std::string memory_holders(const DeviceInfo& info);

/// 1200000000 as "1.2 GB", 3000000 as "3 MB".
std::string gigabytes(std::size_t bytes);

}  // namespace vphi::runtime
