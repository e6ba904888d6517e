// The processor as a device: emitted C++ is compiled to machine code, and a thread pool runs its
// tasks.
//
// Calling convention of a kernel (program::Kernel, Target::Native):
//   extern "C" void ENTRY(void* const* arguments, long task);    for each task 0..grid[0]-1
//   extern "C" void FINISH(void* const* arguments);              once afterwards, where named
// `arguments` holds one pointer for each program::Argument. Tasks are independent and run in any
// order on any thread; FINISH runs after all of them. A launch runs immediately, in the calling
// thread and those of the pool, and returns when it is done.
#pragma once

#include <memory>

#include "runtime/device/device.hpp"

namespace vphi::runtime {

/// Plugin and System require one of the compilers; Auto takes the plug-in where it exists.
enum class HostCompilerChoice { Auto, Plugin, System };

DeviceInfo native_info();
/// Auto obeys $VPHI_NATIVE_COMPILER (plugin or system). `threads` 0: all that the process may use.
/// Throws DeviceError where nothing compiles.
std::unique_ptr<Device> open_native(HostCompilerChoice choice = HostCompilerChoice::Auto,
                                    int threads = 0);
/// The compiler of native kernels on this machine, or the reason why there is none; for messages.
std::string native_compiler_description();

}  // namespace vphi::runtime
