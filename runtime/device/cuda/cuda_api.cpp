#include "runtime/device/cuda/cuda_api.hpp"

#include <atomic>

#include "runtime/device/library.hpp"

namespace vphi::runtime::cu {
namespace {

bool bind_all(const Library& driver, Api& api) {
  return driver.bind(api.Init, "cuInit") &&
         driver.bind(api.DriverGetVersion, "cuDriverGetVersion") &&
         driver.bind(api.GetErrorName, "cuGetErrorName") &&
         driver.bind(api.GetErrorString, "cuGetErrorString") &&
         driver.bind(api.DeviceGetCount, "cuDeviceGetCount") &&
         driver.bind(api.DeviceGet, "cuDeviceGet") &&
         driver.bind(api.DeviceGetName, "cuDeviceGetName") &&
         driver.bind(api.DeviceGetAttribute, "cuDeviceGetAttribute") &&
         driver.bind(api.DeviceGetUuid, "cuDeviceGetUuid_v2") &&
         driver.bind(api.DeviceTotalMem, "cuDeviceTotalMem_v2") &&
         driver.bind(api.DevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain") &&
         driver.bind(api.DevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2") &&
         driver.bind(api.CtxSetCurrent, "cuCtxSetCurrent") &&
         driver.bind(api.CtxGetCurrent, "cuCtxGetCurrent") &&
         driver.bind(api.CtxSynchronize, "cuCtxSynchronize") &&
         driver.bind(api.CtxEnablePeerAccess, "cuCtxEnablePeerAccess") &&
         driver.bind(api.DeviceCanAccessPeer, "cuDeviceCanAccessPeer") &&
         driver.bind(api.MemGetInfo, "cuMemGetInfo_v2") &&
         driver.bind(api.MemAlloc, "cuMemAlloc_v2") && driver.bind(api.MemFree, "cuMemFree_v2") &&
         driver.bind(api.MemGetAddressRange, "cuMemGetAddressRange_v2") &&
         driver.bind(api.IpcGetMemHandle, "cuIpcGetMemHandle") &&
         driver.bind(api.IpcOpenMemHandle, "cuIpcOpenMemHandle_v2") &&
         driver.bind(api.IpcCloseMemHandle, "cuIpcCloseMemHandle") &&
         driver.bind(api.MemHostAlloc, "cuMemHostAlloc") &&
         driver.bind(api.MemFreeHost, "cuMemFreeHost") &&
         driver.bind(api.MemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2") &&
         driver.bind(api.MemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2") &&
         driver.bind(api.MemsetD8Async, "cuMemsetD8Async") &&
         driver.bind(api.StreamCreate, "cuStreamCreate") &&
         driver.bind(api.StreamDestroy, "cuStreamDestroy_v2") &&
         driver.bind(api.StreamSynchronize, "cuStreamSynchronize") &&
         driver.bind(api.StreamBeginCapture, "cuStreamBeginCapture_v2") &&
         driver.bind(api.StreamEndCapture, "cuStreamEndCapture") &&
         driver.bind(api.GraphInstantiateWithFlags, "cuGraphInstantiateWithFlags") &&
         driver.bind(api.GraphUpload, "cuGraphUpload") &&
         driver.bind(api.GraphLaunch, "cuGraphLaunch") &&
         driver.bind(api.GraphDestroy, "cuGraphDestroy") &&
         driver.bind(api.GraphExecDestroy, "cuGraphExecDestroy") &&
         driver.bind(api.EventCreate, "cuEventCreate") &&
         driver.bind(api.EventRecord, "cuEventRecord") &&
         driver.bind(api.EventSynchronize, "cuEventSynchronize") &&
         driver.bind(api.EventElapsedTime, "cuEventElapsedTime") &&
         driver.bind(api.EventDestroy, "cuEventDestroy_v2") &&
         driver.bind(api.StreamWaitEvent, "cuStreamWaitEvent") &&
         driver.bind(api.ModuleLoadData, "cuModuleLoadData") &&
         driver.bind(api.ModuleUnload, "cuModuleUnload") &&
         driver.bind(api.ModuleGetFunction, "cuModuleGetFunction") &&
         driver.bind(api.FuncGetAttribute, "cuFuncGetAttribute") &&
         driver.bind(api.FuncSetAttribute, "cuFuncSetAttribute") &&
         driver.bind(api.LaunchKernel, "cuLaunchKernel") &&
         driver.bind(api.LaunchCooperativeKernel, "cuLaunchCooperativeKernel") &&
         driver.bind(api.OccupancyMaxActiveBlocksPerMultiprocessor,
                     "cuOccupancyMaxActiveBlocksPerMultiprocessor");
}

void bind_repeated_graphs(const Library& driver, Api& api) {
  const bool all = driver.bind(api.StreamBeginCaptureToGraph, "cuStreamBeginCaptureToGraph") &&
                   driver.bind(api.GraphCreate, "cuGraphCreate") &&
                   driver.bind(api.GraphAddNode, "cuGraphAddNode_v2") &&
                   driver.bind(api.GraphConditionalHandleCreate, "cuGraphConditionalHandleCreate");
  if (!all) api.GraphConditionalHandleCreate = nullptr;
}

struct Loaded {
  Api api;
  bool usable = false;
  std::string why;
};

Loaded load() {
  Loaded result;
  const auto driver = Library::open({"libcuda.so.1"}, Library::Close::Never);
  if (!driver) {
    result.why =
        "NVIDIA's driver is not installed here (libcuda.so.1; Debian: apt-get install "
        "nvidia-driver, Ubuntu: apt-get install nvidia-driver-580)";
    return result;
  }
  if (!bind_all(*driver, result.api)) {
    result.why = "NVIDIA's driver is older than CUDA 12: update it";
    return result;
  }
  driver->bind(result.api.CtxRecordEvent, "cuCtxRecordEvent");
  driver->bind(result.api.StreamCreateWithPriority, "cuStreamCreateWithPriority");
  driver->bind(result.api.CtxGetStreamPriorityRange, "cuCtxGetStreamPriorityRange");
  const Result code = result.api.Init(0);
  constexpr int kRecordsEarlyLaunches = 12030, kRepeatsGraphs = 12040;
  int version = 0;
  if (result.api.DriverGetVersion(&version) != kSuccess) version = 0;
  if (version >= kRecordsEarlyLaunches) driver->bind(result.api.LaunchKernelEx, "cuLaunchKernelEx");
  if (version >= kRepeatsGraphs) bind_repeated_graphs(*driver, result.api);
  int count = 0;
  result.usable = code == kSuccess && result.api.DeviceGetCount(&count) == kSuccess && count > 0;
  if (!result.usable)
    result.why = "NVIDIA's driver is there but finds no GPU (" + result.api.error_name(code) + ")";
  return result;
}

std::atomic<const Api*>& known() {
  static std::atomic<const Api*> api = nullptr;
  return api;
}

}  // namespace

const Api* Api::get(std::string* why) {
  static const Loaded loaded = load();
  if (!loaded.usable && why) *why = loaded.why;
  const Api* api = loaded.usable ? &loaded.api : nullptr;
  known() = api;
  return api;
}

const Api* Api::loaded() { return known(); }

std::string Api::error_name(Result code) const {
  const char *name = nullptr, *text = nullptr;
  GetErrorName(code, &name);
  GetErrorString(code, &text);
  std::string result = name ? name : "CUDA error " + std::to_string(code);
  if (text) result += std::string(": ") + text;
  return result;
}

}  // namespace vphi::runtime::cu
