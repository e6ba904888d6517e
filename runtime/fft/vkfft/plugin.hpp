// The C interface of libvphi_vkfft.so: Fourier transforms of real boxes on OpenCL devices by VkFFT.
//
// VkFFT calls OpenCL by name, so it lives in a library of its own that is linked with the loader
// and opened at run time. A plan owns compiled kernels and scratch memory; the caller owns the box.
// Layout and sign as in runtime/fft/device_fft.hpp, in place. Functions answer 0 or VkFFT's error.
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
