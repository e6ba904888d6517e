#include <charconv>

#include "runtime/device/device.hpp"
#include "runtime/device/native.hpp"

namespace vphi::runtime {

std::vector<DeviceInfo> list_devices() { return {native_info()}; }

std::unique_ptr<Device> open_device(const std::string& id) {
  if (id == "native" || id == "auto") return open_native();
  throw DeviceError("There is no device '" + id + "' here: native.");
}

}  // namespace vphi::runtime
