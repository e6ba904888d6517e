#include "runtime/fft/vkfft/plugin.hpp"

#define CL_TARGET_OPENCL_VERSION 120
#define VKFFT_BACKEND 3  // OpenCL
#include <vkFFT.h>

#include <algorithm>
#include <memory>

namespace {

struct Plan {
  cl_context context;
  cl_device_id device;
  VkFFTApplication app{};
  bool made = false;
  ~Plan() {
    if (made) deleteVkFFT(&app);
  }
};

}  // namespace

int vphi_vkfft_version() { return VPHI_VKFFT_VERSION; }

int vphi_vkfft_make(void* context, void* device, const long* n, int f64, void** out) {
  auto plan = std::make_unique<Plan>();
  plan->context = static_cast<cl_context>(context);
  plan->device = static_cast<cl_device_id>(device);
  VkFFTConfiguration wanted{};
  wanted.FFTdim = n[2] > 1 ? 3 : n[1] > 1 ? 2 : 1;
  for (int axis = 0; axis < 3; ++axis) wanted.size[axis] = static_cast<std::uint64_t>(n[axis]);
  wanted.context = &plan->context;
  wanted.device = &plan->device;
  wanted.performR2C = 1;
  wanted.doublePrecision = f64 != 0;
  wanted.useLUT = 1;  // twiddle factors from tables made in f64, not from the device's own sines
  std::uint64_t bytes = static_cast<std::uint64_t>(n[0] / 2 + 1) *
                        static_cast<std::uint64_t>(n[1]) * static_cast<std::uint64_t>(n[2]) *
                        (f64 != 0 ? 16 : 8);
  wanted.bufferSize = &bytes;
  const VkFFTResult result = initializeVkFFT(&plan->app, wanted);
  if (result != VKFFT_SUCCESS) return static_cast<int>(result);
  plan->made = true;
  *out = plan.release();
  return 0;
}

int vphi_vkfft_run(void* plan, void* queue, void* memory, int inverse) {
  auto where = static_cast<cl_command_queue>(queue);
  auto box = static_cast<cl_mem>(memory);
  VkFFTLaunchParams launch{};
  launch.commandQueue = &where;
  launch.buffer = &box;
  return static_cast<int>(
      VkFFTAppend(&static_cast<Plan*>(plan)->app, inverse != 0 ? 1 : -1, &launch));
}

void vphi_vkfft_free(void* plan) { std::unique_ptr<Plan>(static_cast<Plan*>(plan)); }
