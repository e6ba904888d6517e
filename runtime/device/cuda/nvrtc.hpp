// NVIDIA's run-time compiler, opened at run time. It needs no GPU: tests and `vphi emit` compile
// CUDA source for any architecture with it.
//
// Looked for as libnvrtc.so.13 or .12 in the loader's path, $CUDA_HOME, $CUDA_PATH,
// /usr/local/cuda and NVIDIA's packages for Python beside ours. Calls may come from several
// threads.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

namespace vphi::runtime {

/// `nvidia/NAME/lib/` beside `package`, the folder of a Python package: there NVIDIA's packages put
/// their libraries. In alphabetical order; none where there is no such folder.
std::vector<std::string> cuda_package_folders(const std::string& package);

/// Candidate files for a library of NVIDIA's toolkit: each name in the loader's path, then in the
/// folders above.
std::vector<std::string> cuda_library_files(std::initializer_list<const char*> names);

/// "NVRTC 13.0" with the file it lies in; empty, with a reason, where there is none.
std::string nvrtc_version(std::string* why = nullptr);

/// Additional options from $VPHI_NVRTC_OPTIONS: "-lineinfo" for a profiler, or
/// "-DVPHI_WAIT_FOR_ALL_COPIES" to look for races (tools/gpu_sanitize).
std::string nvrtc_more_options();

/// CUDA source to machine code for exactly `arch` ("sm_90"; a CUBIN), or PTX for "compute_90". The
/// source determines contraction (host_compiler.hpp). `log`, where given, receives the compiler's
/// report: registers, spills, warnings. Throws DeviceError.
std::string nvrtc_compile(const std::string& source, const std::string& arch,
                          std::string* log = nullptr);

/// "sm_90" where the compiler knows the architecture, else the newest older "compute_XX".
std::string nvrtc_architecture(int major, int minor);

}  // namespace vphi::runtime
