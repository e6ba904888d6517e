// The C interface of libvphi_vkfft.so: Fourier transforms of real boxes on OpenCL devices by VkFFT.
//
// VkFFT calls OpenCL functions by name. It is therefore in a separate library that is linked with
// the OpenCL loader and opened at run time. A plan owns compiled kernels and scratch memory; the
// caller owns the box. Layout and sign as in runtime/fft/device_fft.hpp, in place. Functions return
// 0 or VkFFT's error code.
#pragma once

#define VPHI_VKFFT_VERSION 1

extern "C" {
int vphi_vkfft_version();
/// `context`, `device`: cl_context, cl_device_id; n with x first; `f64`: 0 or 1.
int vphi_vkfft_make(void* context, void* device, const long* n, int f64, void** plan);
/// Queues the transform of `memory`, a cl_mem, on the cl_command_queue `queue`.
int vphi_vkfft_run(void* plan, void* queue, void* memory, int inverse);
void vphi_vkfft_free(void* plan);
}
