#include <charconv>

#include "runtime/device/cuda/cuda.hpp"
#include "runtime/device/device.hpp"
#include "runtime/device/native/native.hpp"
#include "runtime/device/opencl/opencl.hpp"

namespace vphi::runtime {
namespace {

/// "opencl:2" -> ("opencl", 2); without a number -1, with a bad one -2.
std::pair<std::string, int> parse(const std::string& id) {
  const auto colon = id.find(':');
  if (colon == std::string::npos) return {id, -1};
  int index = -2;
  const char *begin = id.data() + colon + 1, *end = id.data() + id.size();
  const auto [at, error] = std::from_chars(begin, end, index);
  if (error != std::errc() || at != end || index < 0) index = -2;
  return {id.substr(0, colon), index};
}

/// The first OpenCL GPU; -1 where there is none.
int first_gpu(const std::vector<DeviceInfo>& devices) {
  for (std::size_t i = 0; i < devices.size(); ++i)
    if (!devices[i].is_cpu) return int(i);
  return -1;
}

}  // namespace

std::vector<DeviceInfo> list_devices() {
  std::vector<DeviceInfo> all = list_cuda();
  const std::vector<DeviceInfo> opencl = list_opencl();
  for (const DeviceInfo& info : opencl)
    if (!info.is_cpu) all.push_back(info);
  all.push_back(native_info());
  for (const DeviceInfo& info : opencl)
    if (info.is_cpu) all.push_back(info);
  return all;
}

std::unique_ptr<Device> open_device(const std::string& id) {
  const auto [kind, index] = parse(id);
  if (index == -2 || (index >= 0 && (kind == "auto" || kind == "native")))
    throw DeviceError("'" + id +
                      "' is not a device: write auto, native, opencl, opencl:K, cuda or " +
                      "cuda:K with a number K from 0.");
  if (kind == "native") return open_native();
  if (kind == "hip") throw DeviceError(kNoHip);
  if (kind == "cuda") return open_cuda(index < 0 ? 0 : index);
  if (kind == "opencl")
    return open_opencl(index >= 0 ? index : std::max(0, first_gpu(list_opencl())));
  if (kind == "auto") {
    if (!list_cuda().empty()) return open_cuda(0);
    const int gpu = first_gpu(list_opencl());
    return gpu >= 0 ? open_opencl(gpu) : open_native();
  }
  throw DeviceError("There is no device '" + id + "': write auto, native, opencl, opencl:K, cuda " +
                    "or cuda:K; `vphi doctor` lists those of this machine.");
}

}  // namespace vphi::runtime
