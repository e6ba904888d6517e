// The processor as a device: emitted C++ compiled to machine code, tasks run by a thread pool.
//
// Calling convention of a kernel (program::Kernel, Target::Native):
//   extern "C" void ENTRY(void* const* arguments, long task);    for each task 0..grid[0]-1
//   extern "C" void FINISH(void* const* arguments);              once afterwards, where named
// `arguments` holds one pointer for each program::Argument. Tasks are independent and run in any
// order on any thread; FINISH sees all they wrote. A launch runs at once, in the calling thread and
// those of the pool, and returns when it is done; so launches are in order.
#pragma once

#include <memory>

#include "runtime/device/device.hpp"

namespace vphi::runtime {

/// Plugin and System insist on one way; Auto takes the plug-in where it is there.
enum class HostCompilerChoice { Auto, Plugin, System };

DeviceInfo native_info();
/// Auto obeys $VPHI_NATIVE_COMPILER (plugin or system). Throws DeviceError where nothing compiles.
std::unique_ptr<Device> open_native(HostCompilerChoice choice = HostCompilerChoice::Auto);
/// What compiles native kernels here, or why nothing does; for people.
std::string native_compiler_description();

}  // namespace vphi::runtime
