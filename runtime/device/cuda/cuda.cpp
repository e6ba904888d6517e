#include "runtime/device/cuda/cuda.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <future>
#include <map>
#include <memory>
#include <utility>

#include "runtime/device/code_cache.hpp"
#include "runtime/device/cuda/cuda_api.hpp"
#include "runtime/device/cuda/nvrtc.hpp"
#include "runtime/device/cuda/round_kernels.hpp"
#include "runtime/device/kernel_list.hpp"
#include "runtime/device/lanes.hpp"

namespace vphi::runtime {
namespace {

constexpr std::size_t kSmallCopy = 64 * 1024;  ///< bytes
constexpr unsigned kRoundsOfBody = 2;          ///< of a loop, between two looks at its condition

class CudaDevice : public Device, public Lanes {
 public:
  CudaDevice(const cu::Api& api, DeviceInfo info, cu::DeviceId device)
      : api_(api),
        info_(std::move(info)),
        device_(device),
        architecture_(nvrtc_architecture(info_.major, info_.minor)),
        // Making a context takes tens of milliseconds: meanwhile the model is compiled.
        opening_(std::async(std::launch::async, [this] { open(); }).share()) {}

  ~CudaDevice() override {
    opening_.wait();
    if (!context_) return;
    api_.CtxSetCurrent(context_);
    if (stream_) api_.StreamSynchronize(stream_);
    if (other_) api_.StreamSynchronize(other_);
    small_copy_.reset();
    page_locked_.clear();
    for (cu::GraphExec graph : recordings_)
      if (graph != nullptr) api_.GraphExecDestroy(graph);
    if (round_count_ != 0) api_.MemFree(round_count_);
    rounds_.reset();
    for (cu::Event event : marks_) api_.EventDestroy(event);
    for (cu::Event event : {order_, fork_, join_})
      if (event != nullptr) api_.EventDestroy(event);
    for (const Compiled& kernel : kernels_) api_.ModuleUnload(kernel.module);
    for (const auto& [handle, at] : opened_) api_.IpcCloseMemHandle(at);
    for (const auto& [id, buffer] : buffers_) api_.MemFree(buffer.at);
    if (stream_) api_.StreamDestroy(stream_);
    if (other_) api_.StreamDestroy(other_);
    for (cu::DeviceId peer : reached_) api_.DevicePrimaryCtxRelease(peer);
    api_.DevicePrimaryCtxRelease(device_);
  }

  DeviceInfo info() const override {
    DeviceInfo now = info_;
    if (opening_.wait_for(std::chrono::seconds(0)) != std::future_status::ready || !context_)
      return now;
    api_.CtxSetCurrent(context_);
    api_.MemGetInfo(&now.memory_free, &now.memory_total);
    return now;
  }

  BufferHandle allocate(std::size_t bytes) override {
    use();
    const std::size_t size = std::max<std::size_t>(bytes, 4);
    cu::Pointer at = 0;
    const cu::Result code = api_.MemAlloc(&at, size);
    if (code != cu::kSuccess) {
      std::size_t free = 0, total = 0;
      api_.MemGetInfo(&free, &total);
      throw DeviceError("Not enough memory on " + info_.name + ": " + std::to_string(size >> 20) +
                        " MiB wanted, " + std::to_string(free >> 20) + " of " +
                        std::to_string(total >> 20) + " MiB free (" + api_.error_name(code) + ").");
    }
    buffers_[next_buffer_] = {at, size};
    return {next_buffer_++};
  }

  void free(BufferHandle buffer) override {
    const auto found = buffers_.find(buffer.id);
    if (found == buffers_.end()) return;
    use();
    api_.StreamSynchronize(stream_);
    api_.MemFree(found->second.at);
    buffers_.erase(found);
  }

  void upload(BufferHandle to, std::size_t offset, std::span<const std::byte> from) override {
    const cu::Pointer at = range(to, offset, from.size());
    if (from.empty()) return;
    use();
    check(api_.MemcpyHtoDAsync(at, from.data(), from.size(), stream_), "copy to the device");
    synchronise();  // the caller may free its memory
  }

  void download(std::span<std::byte> to, BufferHandle from, std::size_t offset) override {
    const cu::Pointer at = range(from, offset, to.size());
    if (to.empty()) return;
    use();
    if (to.size() > kSmallCopy) {
      check(api_.MemcpyDtoHAsync(to.data(), at, to.size(), stream_), "copy from the device");
      return synchronise();
    }
    // The driver would wait twice where it copies into memory that is not page-locked.
    if (!small_copy_) small_copy_ = page_locked_.take(kSmallCopy);
    check(api_.MemcpyDtoHAsync(small_copy_.get(), at, to.size(), stream_), "copy from the device");
    synchronise();
    std::memcpy(to.data(), small_copy_.get(), to.size());
  }

  void upload_later(BufferHandle to, std::size_t offset, std::span<const std::byte> from) override {
    const cu::Pointer at = range(to, offset, from.size());
    if (from.empty()) return;
    use();
    check(api_.MemcpyHtoDAsync(at, from.data(), from.size(), stream_), "copy to the device");
    follows_kernel_ = false;
  }

  void download_later(std::span<std::byte> to, BufferHandle from, std::size_t offset) override {
    const cu::Pointer at = range(from, offset, to.size());
    if (to.empty()) return;
    use();
    check(api_.MemcpyDtoHAsync(to.data(), at, to.size(), stream_), "copy from the device");
    follows_kernel_ = false;
  }

  void zero(BufferHandle buffer) override {
    const Buffer& found = find(buffer);
    use();
    check(api_.MemsetD8Async(found.at, 0, found.size, stream_), "clear a buffer");
  }

  std::vector<KernelHandle> compile(std::span<const program::Kernel> kernels) override {
    const DiskCache cache = DiskCache::standard();
    return compile_into(kernels_, kernels, int(std::thread::hardware_concurrency()),
                        [&](const program::Kernel& kernel) { return compile_one(kernel, cache); });
  }

  KernelReport report(KernelHandle kernel) const override {
    return kernels_.at(std::size_t(kernel.id)).report;
  }

  void launch(KernelHandle handle, std::span<const BufferHandle> arguments) override {
    const Compiled& kernel = kernels_.at(std::size_t(handle.id));
    check_arguments(kernel, arguments);
    std::vector<cu::Pointer> pointers;
    for (BufferHandle buffer : arguments) pointers.push_back(find(buffer).at);
    std::vector<void*> parameters;
    for (cu::Pointer& pointer : pointers) parameters.push_back(&pointer);
    use();
    check(launch(kernel, parameters.data()), "launch kernel '" + kernel.name + "'");
  }

  RecordingHandle record(const std::function<void()>& body) override {
    use();
    check(api_.StreamBeginCapture(stream_, cu::kCaptureThreadLocal), "begin a recording");
    cu::Graph graph = nullptr;
    try {
      body();
    } catch (...) {
      leave_other();
      api_.StreamEndCapture(stream_, &graph);
      if (graph) api_.GraphDestroy(graph);
      throw;
    }
    check(api_.StreamEndCapture(stream_, &graph), "end a recording");
    return ready_to_replay(graph);
  }

  bool repeats_rounds() override {
    if (!api_.repeats_graphs()) return false;
    use();
    if (!rounds_) {
      rounds_ = std::make_unique<RoundKernels>(api_, info_.major, info_.minor);
      constexpr std::size_t kBytes = sizeof(std::uint32_t);
      if (rounds_->ready())
        check(api_.MemAlloc(&round_count_, kBytes), "count rounds"),
            check(api_.MemsetD8Async(round_count_, 0, kBytes, stream_), "count rounds");
    }
    return rounds_->ready();
  }

  RecordingHandle record_rounds(const std::function<void()>& round,
                                const std::function<void()>& end, const Rounds& rounds) override {
    if (!repeats_rounds()) return Device::record_rounds(round, end, rounds);
    const cu::Pointer scalars = find(rounds.scalars).at, notes = find(rounds.notes).at;
    const unsigned of_body = rounds.most % kRoundsOfBody == 0 ? kRoundsOfBody : 1;
    cu::Graph graph = nullptr;
    check(api_.GraphCreate(&graph, 0), "begin a recording");
    try {
      cu::WhileNode loop;
      loop.context = context_;
      check(api_.GraphConditionalHandleCreate(&loop.condition, graph, context_, 1,
                                              cu::kConditionAtLaunch),
            "make a condition");
      cu::GraphNode node = nullptr;
      check(api_.GraphAddNode(&node, graph, nullptr, nullptr, 0, &loop), "record rounds");
      record_into(*loop.body, nullptr, [&] {
        for (unsigned i = 0; i < of_body; ++i) round();
        check(rounds_->again(loop.condition, round_count_, scalars, rounds, of_body, stream_),
              "record rounds");
      });
      record_into(graph, node, [&] {
        end();
        check(rounds_->note(notes, scalars, rounds, stream_), "record rounds");
      });
    } catch (...) {
      api_.GraphDestroy(graph);
      throw;
    }
    return ready_to_replay(graph);
  }

  void forget(RecordingHandle recording) override {
    use();
    cu::GraphExec& graph = recordings_.at(std::size_t(recording.id));
    check(api_.StreamSynchronize(stream_), "finish its work");
    if (graph != nullptr) api_.GraphExecDestroy(graph);
    graph = nullptr;
  }

  void replay(RecordingHandle recording) override {
    use();
    check(api_.GraphLaunch(recordings_.at(std::size_t(recording.id)), stream_),
          "replay a recording");
  }

  void synchronise() override {
    use();
    check(api_.StreamSynchronize(stream_), "finish its work");
  }

  void synchronise_all() override {
    use();
    check(api_.CtxSynchronize(), "finish the work of this process");
  }

  void follow_others() override {
    use();
    // A stream that records, of any library, may not be ordered by an event.
    if (api_.CtxRecordEvent == nullptr || api_.CtxRecordEvent(context_, order()) != cu::kSuccess)
      return synchronise_all();
    check(api_.StreamWaitEvent(stream_, order(), 0), "wait for the work of this process");
  }

  void let_follow(void* queue) override {
    use();
    check(api_.EventRecord(order(), stream_), "mark its work");
    check(api_.StreamWaitEvent(static_cast<cu::Stream>(queue), order(), 0),
          "let a stream wait for its work");
  }

  int mark() override {
    use();
    cu::Event event = nullptr;
    check(api_.EventCreate(&event, 0), "make a timer");
    marks_.push_back(event);
    check(api_.EventRecord(event, stream_), "start a timer");
    return int(marks_.size()) - 1;
  }

  double seconds_between(int first_mark, int second_mark) override {
    use();
    const cu::Event first = marks_.at(std::size_t(first_mark));
    const cu::Event second = marks_.at(std::size_t(second_mark));
    float milliseconds = 0;
    check(api_.EventSynchronize(second), "finish its work");
    check(api_.EventElapsedTime(&milliseconds, first, second), "read a timer");
    return 1e-3 * double(milliseconds);
  }

  /// Launches on either side of a fork or a join follow an event, and so do not begin early.
  void aside() override {
    use();
    if (other_ == nullptr) other_ = urgent_stream();
    check(api_.EventRecord(made(fork_), stream_), "mark its work");
    check(api_.StreamWaitEvent(other_, fork_, 0), "divide its work");
    std::swap(stream_, other_);
    aside_ = divided_ = true;
    follows_kernel_ = false;
  }

  void back() override {
    use();
    check(api_.EventRecord(made(join_), stream_), "mark its work");
    leave_other();
    follows_kernel_ = false;
  }

  void join() override {
    use();
    check(api_.StreamWaitEvent(stream_, join_, 0), "join its work");
    follows_kernel_ = false;
  }

  std::shared_ptr<std::byte> host_block(std::size_t bytes) override {
    return page_locked_.take(bytes);
  }

  RawQueue raw_queue() override {
    use();
    return {context_, stream_, nullptr};
  }

  void* raw_memory(BufferHandle buffer) override {
    return reinterpret_cast<void*>(std::uintptr_t(find(buffer).at));
  }

  bool reach(const std::string& id) override {
    if (!id.starts_with("cuda:")) return false;
    if (id == info_.id) return true;  // its own memory
    use();
    cu::DeviceId peer = 0;
    int can = 0;
    if (api_.DeviceGet(&peer, std::atoi(id.c_str() + 5)) != cu::kSuccess ||
        api_.DeviceCanAccessPeer(&can, device_, peer) != cu::kSuccess || can == 0)
      return false;
    cu::Context context = nullptr;  // the one that the other device has open
    if (api_.DevicePrimaryCtxRetain(&context, peer) != cu::kSuccess) return false;
    reached_.push_back(peer);
    const cu::Result code = api_.CtxEnablePeerAccess(context, 0);
    return code == cu::kSuccess || code == cu::kPeerAlreadyEnabled;
  }

  std::optional<SharedMemory> share(BufferHandle buffer) override {
    const cu::Pointer at = find(buffer).at;
    use();
    cu::Pointer base = 0;
    std::size_t size = 0;
    cu::IpcHandle handle{};
    if (api_.MemGetAddressRange(&base, &size, at) != cu::kSuccess ||
        api_.IpcGetMemHandle(&handle, base) != cu::kSuccess)
      return {};
    return SharedMemory{handle.bytes, at - base};
  }

  std::uint64_t open_shared(const SharedMemory& shared) override {
    auto found = opened_.find(shared.handle);
    if (found == opened_.end()) {
      use();
      cu::Pointer at = 0;
      if (api_.IpcOpenMemHandle(&at, {shared.handle}, cu::kIpcEnablePeerAccess) != cu::kSuccess)
        return 0;
      found = opened_.emplace(shared.handle, at).first;
    }
    return found->second + shared.offset;
  }

 private:
  struct Buffer {
    cu::Pointer at = 0;
    std::size_t size = 0;
  };
  struct Compiled {
    std::string name;
    cu::Module module = nullptr;
    cu::Function function = nullptr;
    std::array<std::uint32_t, 3> grid{}, block{};
    std::uint32_t shared_bytes = 0;
    bool begins_early = false;  ///< it waits itself for the launch before it (kAwait)
    bool together = false;
    std::size_t arguments = 0;
    KernelReport report;
  };

  void check(cu::Result code, const std::string& what) const {
    if (code != cu::kSuccess)
      throw DeviceError(info_.name + " failed to " + what + " (" + api_.error_name(code) + ").");
  }

  void open() {
    check(api_.DevicePrimaryCtxRetain(&context_, device_), "open");
    check(api_.CtxSetCurrent(context_), "open");
    check(api_.StreamCreate(&stream_, cu::kStreamNonBlocking), "make a stream");
  }

  /// Of the highest priority, where there are priorities.
  cu::Stream urgent_stream() {
    cu::Stream made = nullptr;
    int least = 0, greatest = 0;
    const bool priorities = api_.StreamCreateWithPriority && api_.CtxGetStreamPriorityRange &&
                            api_.CtxGetStreamPriorityRange(&least, &greatest) == cu::kSuccess;
    check(priorities ? api_.StreamCreateWithPriority(&made, cu::kStreamNonBlocking, greatest)
                     : api_.StreamCreate(&made, cu::kStreamNonBlocking),
          "make a stream");
    return made;
  }

  /// The usual stream is the present one again.
  void leave_other() {
    if (std::exchange(aside_, false)) std::swap(stream_, other_);
  }

  cu::Event made(cu::Event& event) {
    if (event == nullptr) check(api_.EventCreate(&event, cu::kEventNoTiming), "make an event");
    return event;
  }

  cu::Result launch(const Compiled& kernel, void** parameters) {
    const bool early_here = std::exchange(follows_kernel_, true) && kernel.begins_early;
    const auto& grid = kernel.grid;
    const auto& block = kernel.block;
    if (kernel.together)
      return api_.LaunchCooperativeKernel(kernel.function, grid[0], grid[1], grid[2], block[0],
                                          block[1], block[2], kernel.shared_bytes, stream_,
                                          parameters);
    if (!early_here)
      return api_.LaunchKernel(kernel.function, grid[0], grid[1], grid[2], block[0], block[1],
                               block[2], kernel.shared_bytes, stream_, parameters, nullptr);
    cu::LaunchAttribute early;
    early.id = cu::kBeginsEarly;
    early.value = 1;
    const cu::LaunchConfig config{grid, block, kernel.shared_bytes, stream_, &early, 1};
    return api_.LaunchKernelEx(&config, kernel.function, parameters, nullptr);
  }

  /// Destroys the graph.
  RecordingHandle ready_to_replay(cu::Graph graph) {
    cu::GraphExec ready = nullptr;
    const unsigned long long flags = std::exchange(divided_, false) ? cu::kNodePriority : 0;
    const cu::Result code = api_.GraphInstantiateWithFlags(&ready, graph, flags);
    api_.GraphDestroy(graph);
    check(code, "prepare a recording");
    recordings_.push_back(ready);
    check(api_.GraphUpload(ready, stream_), "load a recording");
    return {int(recordings_.size()) - 1};
  }

  /// What `body` launches becomes part of the graph, after `before` where there is one.
  void record_into(cu::Graph graph, cu::GraphNode before, const std::function<void()>& body) {
    check(api_.StreamBeginCaptureToGraph(stream_, graph, before ? &before : nullptr, nullptr,
                                         before ? 1 : 0, cu::kCaptureThreadLocal),
          "begin a recording");
    follows_kernel_ = false;
    cu::Graph same = nullptr;
    try {
      body();
    } catch (...) {
      leave_other();
      api_.StreamEndCapture(stream_, &same);
      throw;
    }
    check(api_.StreamEndCapture(stream_, &same), "end a recording");
  }

  /// An event that says after what something is queued.
  cu::Event order() { return made(order_); }

  /// Waits until the device is open and makes it the calling thread's.
  void use() const {
    opening_.get();
    api_.CtxSetCurrent(context_);
  }

  Compiled compile_one(const program::Kernel& kernel, const DiskCache& cache) const {
    const std::string key = CacheKey()
                                .add("cuda", architecture_)
                                .add("compiler", nvrtc_version())
                                .add("driver", architecture_.starts_with("sm_") ? "" : info_.driver)
                                .add("options", nvrtc_more_options())
                                .add("source", kernel.source)
                                .text();
    CodeSource source{
        [&](std::string_view bytes) {
          use();
          cu::Module module = nullptr;
          check(api_.ModuleLoadData(&module, std::string(bytes).c_str()), "load compiled code");
          return module;
        },
        [&] { return nvrtc_compile(kernel.source, architecture_); },
    };
    Compiled result;
    result.module = cached_code(cache, key, kernel, source, result.report);
    check(api_.ModuleGetFunction(&result.function, result.module, kernel.entry.c_str()),
          "find the kernel function " + kernel.entry);
    api_.FuncGetAttribute(&result.report.registers, cu::kFunctionRegisters, result.function);
    // Emitted code has no arrays of its own: local memory is what did not fit in registers.
    api_.FuncGetAttribute(&result.report.spilled_bytes, cu::kFunctionLocalBytes, result.function);
    if (kernel.shared_bytes > 0)
      check(api_.FuncSetAttribute(result.function, cu::kFunctionMaxDynamicShared,
                                  int(kernel.shared_bytes)),
            "give kernel '" + kernel.name + "' " + std::to_string(kernel.shared_bytes) +
                " bytes of shared memory");
    result.name = kernel.name;
    result.grid = kernel.grid;
    result.block = kernel.block;
    result.shared_bytes = kernel.shared_bytes;
    result.together = kernel.together;
    constexpr int kFirstToBeginEarly = 9;  // compute capability
    result.begins_early = info_.major >= kFirstToBeginEarly && api_.LaunchKernelEx != nullptr &&
                          kernel.source.find(kAwait) != std::string::npos;
    if (kernel.together) check_room(kernel, result.function);
    result.arguments = kernel.arguments.size();
    return result;
  }

  /// Blocks that wait for each other must all run at the same time, or none of them ends.
  void check_room(const program::Kernel& kernel, cu::Function function) const {
    int occupancy = 0;
    const auto& block = kernel.block;
    check(api_.OccupancyMaxActiveBlocksPerMultiprocessor(
              &occupancy, function, int(block[0] * block[1] * block[2]), kernel.shared_bytes),
          "say how many blocks of kernel '" + kernel.name + "' run at the same time");
    const std::int64_t blocks = std::int64_t{kernel.grid[0]} * kernel.grid[1] * kernel.grid[2];
    if (blocks > std::int64_t{occupancy} * info_.compute_units)
      throw DeviceError("Kernel '" + kernel.name + "' wants " + std::to_string(blocks) +
                        " blocks at the same time, and " + info_.name + " runs " +
                        std::to_string(std::int64_t{occupancy} * info_.compute_units) +
                        ": compile the model for this device, or with `launch = step`.");
  }

  const Buffer& find(BufferHandle buffer) const {
    const auto found = buffers_.find(buffer.id);
    if (found == buffers_.end()) throw DeviceError("A buffer was used that does not exist.");
    return found->second;
  }

  cu::Pointer range(BufferHandle buffer, std::size_t offset, std::size_t bytes) const {
    const Buffer& found = find(buffer);
    if (offset > found.size || bytes > found.size - offset)
      throw DeviceError("A copy reaches beyond the end of its buffer.");
    return found.at + offset;
  }

  const cu::Api& api_;
  DeviceInfo info_;
  cu::DeviceId device_;
  std::string architecture_;
  cu::Context context_ = nullptr;
  cu::Stream stream_ = nullptr;  ///< into which work is queued
  cu::Stream other_ = nullptr;   ///< the second one; between `aside` and `back` the usual one
  bool aside_ = false;
  bool divided_ = false;  ///< the work since the last recording went into both
  std::map<int, Buffer> buffers_;
  int next_buffer_ = 0;
  std::vector<Compiled> kernels_;
  std::vector<cu::GraphExec> recordings_;
  /// Whether the next launch comes after another one: only then it may begin before that has ended.
  bool follows_kernel_ = true;
  std::unique_ptr<RoundKernels> rounds_;
  cu::Pointer round_count_ = 0;
  std::vector<cu::Event> marks_;
  cu::Event order_ = nullptr, fork_ = nullptr, join_ = nullptr;
  std::vector<cu::DeviceId> reached_;                        ///< whose contexts are held
  std::map<std::array<std::byte, 64>, cu::Pointer> opened_;  ///< allocations of other processes
  /// A block may exist longer than the device, since other ranks may still copy from it. So each
  /// one holds the context.
  HostBlocks page_locked_{[this](std::size_t bytes) {
                            use();
                            void* at = nullptr;
                            check(api_.MemHostAlloc(&at, bytes, 0), "lock host memory for copies");
                            cu::Context held = nullptr;
                            check(api_.DevicePrimaryCtxRetain(&held, device_),
                                  "lock host memory for copies");
                            return at;
                          },
                          [&api = api_, device = device_](void* at) {
                            cu::Context context = nullptr;
                            if (api.DevicePrimaryCtxRetain(&context, device) == cu::kSuccess) {
                              api.CtxSetCurrent(context);
                              api.MemFreeHost(at);
                              api.DevicePrimaryCtxRelease(device);
                            }
                            api.DevicePrimaryCtxRelease(device);
                          }};
  std::shared_ptr<std::byte> small_copy_;  ///< page-locked, for downloads up to kSmallCopy
  std::shared_future<void> opening_;       // last: it uses the members above
};

int attribute(const cu::Api& api, cu::DeviceId device, int what, int otherwise) {
  int value = 0;
  return api.DeviceGetAttribute(&value, what, device) == cu::kSuccess ? value : otherwise;
}

}  // namespace

std::vector<DeviceInfo> list_cuda(std::string* why) {
  std::vector<DeviceInfo> list;
  const cu::Api* api = cu::Api::get(why);
  if (!api) return list;
  if (nvrtc_version(why).empty()) return list;
  int count = 0, version = 0;
  api->DeviceGetCount(&count);
  api->DriverGetVersion(&version);
  for (int k = 0; k < count; ++k) {
    cu::DeviceId device = 0;
    if (api->DeviceGet(&device, k) != cu::kSuccess) continue;
    DeviceInfo info;
    info.id = "cuda:" + std::to_string(k);
    char name[256] = "";
    api->DeviceGetName(name, int(sizeof name), device);
    info.name = name;
    info.driver = "CUDA driver " + std::to_string(version / 1000) + "." +
                  std::to_string(version % 1000 / 10) + ", " + nvrtc_version();
    info.target = program::Target::Cuda;
    api->DeviceTotalMem(&info.memory_total, device);
    info.memory_free = info.memory_total;
    info.compute_units = attribute(*api, device, cu::kMultiprocessors, 1);
    info.major = attribute(*api, device, cu::kMajor, 0);
    info.minor = attribute(*api, device, cu::kMinor, 0);
    info.local_bytes = std::size_t(attribute(*api, device, cu::kSharedPerBlockOptIn, 48 * 1024));
    info.nvidia = true;
    list.push_back(std::move(info));
  }
  return list;
}

CallersContext::CallersContext() {
  if (const cu::Api* api = cu::Api::loaded()) {
    cu::Context now = nullptr;
    if (api->CtxGetCurrent(&now) == cu::kSuccess) context_ = now;
  }
}

CallersContext::~CallersContext() {
  if (context_ == nullptr) return;  // the thread had none: any will do
  if (const cu::Api* api = cu::Api::loaded())
    api->CtxSetCurrent(static_cast<cu::Context>(context_));
}

std::string cuda_uuid(int index) {
  const cu::Api* api = cu::Api::get();
  cu::DeviceId device = 0;
  cu::Uuid uuid{};
  if (api == nullptr || api->DeviceGet(&device, index) != cu::kSuccess ||
      api->DeviceGetUuid(&uuid, device) != cu::kSuccess)
    return {};
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : uuid.bytes) {
    text += kDigits[byte / 16];
    text += kDigits[byte % 16];
  }
  return text;
}

std::unique_ptr<Device> open_cuda(int index) {
  std::string why;
  std::vector<DeviceInfo> list = list_cuda(&why);
  if (list.empty()) throw DeviceError("There is no CUDA device: " + why + ".");
  if (index < 0 || index >= int(list.size()))
    throw DeviceError("There is no device cuda:" + std::to_string(index) + "; the last one is " +
                      "cuda:" + std::to_string(list.size() - 1) + ".");
  const cu::Api& api = *cu::Api::get();
  cu::DeviceId device = 0;
  api.DeviceGet(&device, index);
  return std::make_unique<CudaDevice>(api, std::move(list[std::size_t(index)]), device);
}

}  // namespace vphi::runtime
