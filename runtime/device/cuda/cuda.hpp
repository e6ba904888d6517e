// NVIDIA GPUs through the driver API and NVRTC, both opened at run time.
//
// Calling convention of a kernel (program::Kernel, Target::Cuda): extern "C" __global__, one
// pointer for each program::Argument, in order; `shared_bytes` of dynamic shared memory. Code is
// compiled for exactly this GPU. All work goes to one stream; a Recording is a CUDA graph.
//
// A kernel that begins with `VPHI_AWAIT;` (kAwait) waits there for the launch before it. From
// compute capability 9.0 on it is started while that launch still ends, so that no time passes
// between them (programmatic dependent launch).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/device/device.hpp"

namespace vphi::runtime {

inline constexpr const char* kAwait = "VPHI_AWAIT;";

/// "cuda:0", "cuda:1", ...; empty, with a reason, where there is no GPU or no compiler for it.
std::vector<DeviceInfo> list_cuda(std::string* why = nullptr);
/// Of the device number `index`, the same in every process, whatever number it has there; empty
/// where it is not known.
std::string cuda_uuid(int index);
/// The device number `index`. Throws DeviceError.
std::unique_ptr<Device> open_cuda(int index);

/// What was the calling thread's current context before this is so again afterwards. For calls from
/// programs that use the GPUs by themselves. Costs nothing where no CUDA device has been opened.
class CallersContext {
 public:
  CallersContext();
  ~CallersContext();
  CallersContext(const CallersContext&) = delete;
  CallersContext& operator=(const CallersContext&) = delete;

 private:
  void* context_ = nullptr;
};

}  // namespace vphi::runtime
