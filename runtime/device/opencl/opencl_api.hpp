// The part of OpenCL 1.2 that is used, declared by hand: neither headers nor the ICD loader are
// needed to build. Names, values and signatures: Khronos, OpenCL API specification 1.2.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "runtime/device/library.hpp"

namespace vphi::runtime::cl {

using Int = std::int32_t;
using Uint = std::uint32_t;
using Ulong = std::uint64_t;
using Bool = Uint;

struct PlatformTag;
struct DeviceTag;
struct ContextTag;
struct QueueTag;
struct MemoryTag;
struct ProgramTag;
struct KernelTag;
using Platform = PlatformTag*;
using DeviceId = DeviceTag*;
using Context = ContextTag*;
using Queue = QueueTag*;
using Memory = MemoryTag*;
using Program = ProgramTag*;
using Kernel = KernelTag*;
using Event = struct EventTag*;

constexpr Int kSuccess = 0;
constexpr Bool kFalse = 0, kTrue = 1;

constexpr Uint kPlatformName = 0x0902, kPlatformVersion = 0x0901;
constexpr Ulong kDeviceTypeCpu = 1 << 1, kDeviceTypeAll = 0xFFFFFFFF;
constexpr Uint kDeviceType = 0x1000, kDeviceMaxComputeUnits = 0x1002,
               kDeviceMaxWorkGroupSize = 0x1004, kDeviceMaxAllocation = 0x1010,
               kDeviceGlobalMemory = 0x101F, kDeviceLocalMemory = 0x1023, kDeviceAvailable = 0x1027,
               kDeviceCompilerAvailable = 0x1028, kDeviceName = 0x102B, kDriverVersion = 0x102D,
               kDeviceVersion = 0x102F, kDeviceExtensions = 0x1030, kDeviceDoubleConfig = 0x1032;
constexpr Uint kDeviceSingleConfig = 0x101B;
constexpr Ulong kCorrectlyRounded = 1 << 7;
constexpr Ulong kMemoryReadWrite = 1, kMemoryOfHost = 1 << 4;
constexpr Ulong kMapRead = 1, kMapWrite = 2;
constexpr Uint kProgramBinarySizes = 0x1165, kProgramBinaries = 0x1166;
constexpr Uint kProgramBuildLog = 0x1183;
constexpr Uint kKernelArguments = 0x1191;
constexpr Uint kKernelWorkGroupSize = 0x11B0;
constexpr Uint kNvMajor = 0x4000, kNvMinor = 0x4001;

/// Functions of the ICD loader.
struct Api {
  Int (*GetPlatformIDs)(Uint, Platform*, Uint*) = nullptr;
  Int (*GetPlatformInfo)(Platform, Uint, std::size_t, void*, std::size_t*) = nullptr;
  Int (*GetDeviceIDs)(Platform, Ulong, Uint, DeviceId*, Uint*) = nullptr;
  Int (*GetDeviceInfo)(DeviceId, Uint, std::size_t, void*, std::size_t*) = nullptr;
  Context (*CreateContext)(const std::intptr_t*, Uint, const DeviceId*,
                           void (*)(const char*, const void*, std::size_t, void*), void*,
                           Int*) = nullptr;
  Int (*ReleaseContext)(Context) = nullptr;
  Queue (*CreateCommandQueue)(Context, DeviceId, Ulong, Int*) = nullptr;
  Int (*ReleaseCommandQueue)(Queue) = nullptr;
  Memory (*CreateBuffer)(Context, Ulong, std::size_t, void*, Int*) = nullptr;
  Int (*ReleaseMemObject)(Memory) = nullptr;
  Int (*EnqueueWriteBuffer)(Queue, Memory, Bool, std::size_t, std::size_t, const void*, Uint,
                            const Event*, Event*) = nullptr;
  Int (*EnqueueReadBuffer)(Queue, Memory, Bool, std::size_t, std::size_t, void*, Uint, const Event*,
                           Event*) = nullptr;
  Int (*EnqueueFillBuffer)(Queue, Memory, const void*, std::size_t, std::size_t, std::size_t, Uint,
                           const Event*, Event*) = nullptr;
  void* (*EnqueueMapBuffer)(Queue, Memory, Bool, Ulong, std::size_t, std::size_t, Uint,
                            const Event*, Event*, Int*) = nullptr;
  Program (*CreateProgramWithSource)(Context, Uint, const char**, const std::size_t*,
                                     Int*) = nullptr;
  Program (*CreateProgramWithBinary)(Context, Uint, const DeviceId*, const std::size_t*,
                                     const unsigned char**, Int*, Int*) = nullptr;
  Int (*BuildProgram)(Program, Uint, const DeviceId*, const char*, void (*)(Program, void*),
                      void*) = nullptr;
  Int (*GetProgramInfo)(Program, Uint, std::size_t, void*, std::size_t*) = nullptr;
  Int (*GetProgramBuildInfo)(Program, DeviceId, Uint, std::size_t, void*, std::size_t*) = nullptr;
  Int (*ReleaseProgram)(Program) = nullptr;
  Kernel (*CreateKernel)(Program, const char*, Int*) = nullptr;
  Int (*GetKernelInfo)(Kernel, Uint, std::size_t, void*, std::size_t*) = nullptr;
  Int (*GetKernelWorkGroupInfo)(Kernel, DeviceId, Uint, std::size_t, void*, std::size_t*) = nullptr;
  Int (*SetKernelArg)(Kernel, Uint, std::size_t, const void*) = nullptr;
  Int (*ReleaseKernel)(Kernel) = nullptr;
  Int (*EnqueueNDRangeKernel)(Queue, Kernel, Uint, const std::size_t*, const std::size_t*,
                              const std::size_t*, Uint, const Event*, Event*) = nullptr;
  Int (*Flush)(Queue) = nullptr;
  Int (*Finish)(Queue) = nullptr;

  /// Null, with a reason, where no loader is installed.
  static const Api* get(std::string* why = nullptr);
};

/// "CL_OUT_OF_RESOURCES" for -5; "OpenCL error -5" where it has no name here.
std::string error_name(Int code);

}  // namespace vphi::runtime::cl
