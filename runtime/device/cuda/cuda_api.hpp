// The part of the CUDA driver API that is used, declared by hand: CUDA is not needed to build.
// Names, values and signatures: NVIDIA, CUDA Driver API reference, versions 12 and 13.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace vphi::runtime::cu {

using Result = int;
using DeviceId = int;
using Pointer = std::uint64_t;  ///< CUdeviceptr
using Context = struct ContextTag*;
using Module = struct ModuleTag*;
using Function = struct FunctionTag*;
using Stream = struct StreamTag*;
using Event = struct EventTag*;
using Graph = struct GraphTag*;
using GraphExec = struct GraphExecTag*;
using GraphNode = struct GraphNodeTag*;
using GraphCondition = std::uint64_t;  ///< CUgraphConditionalHandle

/// CUuuid: of a GPU, the same in every process.
struct Uuid {
  std::array<unsigned char, 16> bytes;
};

/// CUipcMemHandle: an allocation, for another process of this machine.
struct IpcHandle {
  std::array<std::byte, 64> bytes;
};

/// CUlaunchAttribute and CUlaunchConfig.
struct LaunchAttribute {
  int id = 0, pad = 0;
  int value = 0;
  std::array<char, 60> other_values{};
};
struct LaunchConfig {
  std::array<unsigned, 3> grid{}, block{};
  unsigned shared_bytes = 0;
  Stream stream = nullptr;
  LaunchAttribute* attributes = nullptr;
  unsigned count = 0;
};
/// CUgraphNodeParams of a node that repeats a graph while its condition is not zero.
struct WhileNode {
  int type = 13;  ///< CU_GRAPH_NODE_TYPE_CONDITIONAL
  std::array<int, 3> zeros{};
  GraphCondition condition = 0;
  int kind = 1;  ///< CU_GRAPH_COND_TYPE_WHILE
  unsigned count = 1;
  Graph* body = nullptr;  ///< set where the node is added
  Context context = nullptr;
  std::array<std::uint64_t, 26> more_zeros{};
};
static_assert(sizeof(WhileNode) == 256);
constexpr unsigned kConditionAtLaunch = 1;  ///< CU_GRAPH_COND_ASSIGN_DEFAULT
constexpr int kBeginsEarly = 6;  ///< CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
constexpr Result kSuccess = 0, kOutOfMemory = 2, kPeerAlreadyEnabled = 704;
constexpr int kMultiprocessors = 16, kMajor = 75, kMinor = 76, kSharedPerBlockOptIn = 97;
constexpr int kFunctionLocalBytes = 3, kFunctionRegisters = 4, kFunctionMaxDynamicShared = 8;
constexpr unsigned long long kNodePriority = 8;  ///< CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY
constexpr unsigned kStreamNonBlocking = 1, kIpcEnablePeerAccess = 1;
constexpr int kCaptureThreadLocal = 1;
constexpr unsigned kEventNoTiming = 2;

struct Api {
  Result (*Init)(unsigned) = nullptr;
  Result (*DriverGetVersion)(int*) = nullptr;
  Result (*GetErrorName)(Result, const char**) = nullptr;
  Result (*GetErrorString)(Result, const char**) = nullptr;
  Result (*DeviceGetCount)(int*) = nullptr;
  Result (*DeviceGet)(DeviceId*, int) = nullptr;
  Result (*DeviceGetName)(char*, int, DeviceId) = nullptr;
  Result (*DeviceGetAttribute)(int*, int, DeviceId) = nullptr;
  Result (*DeviceGetUuid)(Uuid*, DeviceId) = nullptr;
  Result (*DeviceTotalMem)(std::size_t*, DeviceId) = nullptr;
  Result (*DevicePrimaryCtxRetain)(Context*, DeviceId) = nullptr;
  Result (*DevicePrimaryCtxRelease)(DeviceId) = nullptr;
  Result (*CtxSetCurrent)(Context) = nullptr;
  Result (*CtxGetCurrent)(Context*) = nullptr;
  Result (*CtxSynchronize)() = nullptr;
  Result (*CtxEnablePeerAccess)(Context, unsigned) = nullptr;
  Result (*DeviceCanAccessPeer)(int*, DeviceId, DeviceId) = nullptr;
  Result (*MemGetInfo)(std::size_t*, std::size_t*) = nullptr;
  Result (*MemAlloc)(Pointer*, std::size_t) = nullptr;
  Result (*MemFree)(Pointer) = nullptr;
  Result (*MemGetAddressRange)(Pointer*, std::size_t*, Pointer) = nullptr;
  Result (*IpcGetMemHandle)(IpcHandle*, Pointer) = nullptr;
  Result (*IpcOpenMemHandle)(Pointer*, IpcHandle, unsigned) = nullptr;
  Result (*IpcCloseMemHandle)(Pointer) = nullptr;
  Result (*MemHostAlloc)(void**, std::size_t, unsigned) = nullptr;
  Result (*MemFreeHost)(void*) = nullptr;
  Result (*MemcpyHtoDAsync)(Pointer, const void*, std::size_t, Stream) = nullptr;
  Result (*MemcpyDtoHAsync)(void*, Pointer, std::size_t, Stream) = nullptr;
  Result (*MemsetD8Async)(Pointer, unsigned char, std::size_t, Stream) = nullptr;
  Result (*StreamCreate)(Stream*, unsigned) = nullptr;
  /// Null, these two, where streams have no priorities.
  Result (*StreamCreateWithPriority)(Stream*, unsigned, int) = nullptr;
  Result (*CtxGetStreamPriorityRange)(int*, int*) = nullptr;
  Result (*StreamDestroy)(Stream) = nullptr;
  Result (*StreamSynchronize)(Stream) = nullptr;
  Result (*StreamBeginCapture)(Stream, int) = nullptr;
  Result (*StreamEndCapture)(Stream, Graph*) = nullptr;
  /// Null, these four, in drivers before CUDA 12.4.
  Result (*StreamBeginCaptureToGraph)(Stream, Graph, const GraphNode*, const void*, std::size_t,
                                      int) = nullptr;
  Result (*GraphCreate)(Graph*, unsigned) = nullptr;
  Result (*GraphAddNode)(GraphNode*, Graph, const GraphNode*, const void*, std::size_t,
                         void*) = nullptr;
  Result (*GraphConditionalHandleCreate)(GraphCondition*, Graph, Context, unsigned,
                                         unsigned) = nullptr;
  Result (*GraphInstantiateWithFlags)(GraphExec*, Graph, unsigned long long) = nullptr;
  Result (*GraphUpload)(GraphExec, Stream) = nullptr;
  Result (*GraphLaunch)(GraphExec, Stream) = nullptr;
  Result (*GraphDestroy)(Graph) = nullptr;
  Result (*GraphExecDestroy)(GraphExec) = nullptr;
  Result (*EventCreate)(Event*, unsigned) = nullptr;
  Result (*EventRecord)(Event, Stream) = nullptr;
  Result (*EventSynchronize)(Event) = nullptr;
  Result (*EventElapsedTime)(float*, Event, Event) = nullptr;
  Result (*EventDestroy)(Event) = nullptr;
  Result (*StreamWaitEvent)(Stream, Event, unsigned) = nullptr;
  /// Of all streams of a context; null in drivers before CUDA 12.5.
  Result (*CtxRecordEvent)(Context, Event) = nullptr;
  Result (*ModuleLoadData)(Module*, const void*) = nullptr;
  Result (*ModuleUnload)(Module) = nullptr;
  Result (*ModuleGetFunction)(Function*, Module, const char*) = nullptr;
  Result (*FuncGetAttribute)(int*, int, Function) = nullptr;
  Result (*FuncSetAttribute)(Function, int, int) = nullptr;
  Result (*LaunchKernel)(Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                         unsigned, Stream, void**, void**) = nullptr;
  Result (*LaunchCooperativeKernel)(Function, unsigned, unsigned, unsigned, unsigned, unsigned,
                                    unsigned, unsigned, Stream, void**) = nullptr;
  /// Null in drivers before CUDA 12.3, whose recordings cannot contain launches that begin early.
  Result (*LaunchKernelEx)(const LaunchConfig*, Function, void**, void**) = nullptr;
  Result (*OccupancyMaxActiveBlocksPerMultiprocessor)(int*, Function, int, std::size_t) = nullptr;

  /// Loaded and initialised; null, with a reason, where there is no driver or no GPU.
  static const Api* get(std::string* why = nullptr);
  /// The same where something has called `get` already; null elsewhere.
  static const Api* loaded();
  bool repeats_graphs() const { return GraphConditionalHandleCreate != nullptr; }
  std::string error_name(Result code) const;
};

}  // namespace vphi::runtime::cu
