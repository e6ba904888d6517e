#include "runtime/device/opencl/opencl.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <mutex>

#include "runtime/device/code_cache.hpp"
#include "runtime/device/kernel_list.hpp"
#include "runtime/device/native/host_compiler.hpp"
#include "runtime/device/native/native.hpp"
#include "runtime/device/opencl/opencl_api.hpp"

namespace vphi::runtime {
namespace {

using Clock = std::chrono::steady_clock;

void check(cl::Int code, const std::string& what) {
  if (code != cl::kSuccess)
    throw DeviceError("OpenCL failed to " + what + " (" + cl::error_name(code) + ").");
}

/// An OpenCL object released at the end of its life.
template <class Object>
class Owned {
 public:
  using Release = cl::Int (*)(Object);
  Owned() = default;
  Owned(Object object, Release release) : object_(object), release_(release) {}
  Owned(Owned&& other) noexcept
      : object_(std::exchange(other.object_, nullptr)), release_(other.release_) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(object_, other.object_);
    std::swap(release_, other.release_);
    return *this;
  }
  ~Owned() {
    if (object_) release_(object_);
  }
  Object get() const { return object_; }

 private:
  Object object_ = nullptr;
  Release release_ = nullptr;
};

std::string text_of(const cl::Api& api, cl::DeviceId device, cl::Uint what) {
  std::size_t size = 0;
  if (api.GetDeviceInfo(device, what, 0, nullptr, &size) != cl::kSuccess || size == 0) return {};
  std::string text(size, '\0');
  if (api.GetDeviceInfo(device, what, size, text.data(), nullptr) != cl::kSuccess) return {};
  while (!text.empty() && (text.back() == '\0' || text.back() == ' ')) text.pop_back();
  return text;
}

template <class Value>
Value value_of(const cl::Api& api, cl::DeviceId device, cl::Uint what, Value otherwise) {
  Value value{};
  return api.GetDeviceInfo(device, what, sizeof value, &value, nullptr) == cl::kSuccess ? value
                                                                                        : otherwise;
}

std::string platform_text(const cl::Api& api, cl::Platform platform, cl::Uint what) {
  std::string text(256, '\0');
  std::size_t size = 0;
  if (api.GetPlatformInfo(platform, what, text.size(), text.data(), &size) != cl::kSuccess)
    return {};
  text.resize(size > 0 ? size - 1 : 0);
  return text;
}

struct Found {
  cl::DeviceId device;
  DeviceInfo info;
};

DeviceInfo describe(const cl::Api& api, cl::Platform platform, cl::DeviceId device, int index) {
  DeviceInfo info;
  info.id = "opencl:" + std::to_string(index);
  info.name = text_of(api, device, cl::kDeviceName);
  info.driver = platform_text(api, platform, cl::kPlatformName) + " " +
                text_of(api, device, cl::kDriverVersion) + ", " +
                text_of(api, device, cl::kDeviceVersion);
  info.target = program::Target::OpenCL;
  const auto type = value_of<cl::Ulong>(api, device, cl::kDeviceType, 0);
  info.is_cpu = (type & cl::kDeviceTypeCpu) != 0;
  info.memory_total = std::size_t(value_of<cl::Ulong>(api, device, cl::kDeviceGlobalMemory, 0));
  info.memory_free =
      info.is_cpu ? std::min(info.memory_total, native_info().memory_free) : info.memory_total;
  info.compute_units = int(value_of<cl::Uint>(api, device, cl::kDeviceMaxComputeUnits, 1));
  info.local_bytes = std::size_t(value_of<cl::Ulong>(api, device, cl::kDeviceLocalMemory, 32768));
  info.f64 = value_of<cl::Ulong>(api, device, cl::kDeviceDoubleConfig, 0) != 0;
  const std::string extensions = text_of(api, device, cl::kDeviceExtensions);
  info.nvidia = extensions.find("cl_nv_device_attribute_query") != std::string::npos;
  if (info.nvidia) {
    info.major = int(value_of<cl::Uint>(api, device, cl::kNvMajor, 0));
    info.minor = int(value_of<cl::Uint>(api, device, cl::kNvMinor, 0));
  }
  return info;
}

/// Loaders and drivers set themselves up at the first call, and several threads must not begin it
/// at once: PoCL finds no device then, or crashes.
std::mutex& one_at_a_time() {
  static std::mutex mutex;
  return mutex;
}

std::vector<Found> find_devices(std::string* why) {
  std::string reason;
  const cl::Api* api = cl::Api::get(&reason);
  std::vector<Found> found;
  if (!api) {
    if (why) *why = "the OpenCL loader is missing (apt-get install ocl-icd-libopencl1): " + reason;
    return found;
  }
  cl::Uint count = 0;
  api->GetPlatformIDs(0, nullptr, &count);
  std::vector<cl::Platform> platforms(count);
  if (count) api->GetPlatformIDs(count, platforms.data(), nullptr);
  int index = 0;
  for (cl::Platform platform : platforms) {
    cl::Uint devices = 0;
    if (api->GetDeviceIDs(platform, cl::kDeviceTypeAll, 0, nullptr, &devices) != cl::kSuccess)
      continue;
    std::vector<cl::DeviceId> ids(devices);
    if (devices) api->GetDeviceIDs(platform, cl::kDeviceTypeAll, devices, ids.data(), nullptr);
    for (cl::DeviceId id : ids) {
      const bool usable = value_of<cl::Bool>(*api, id, cl::kDeviceAvailable, 0) &&
                          value_of<cl::Bool>(*api, id, cl::kDeviceCompilerAvailable, 0);
      if (usable) found.push_back({id, describe(*api, platform, id, index++)});
    }
  }
  if (found.empty() && why)
    *why =
        "no OpenCL driver is installed: apt-get install pocl-opencl-icd for the processor, or the "
        "driver of the GPU (NVIDIA's needs a file /etc/OpenCL/vendors/nvidia.icd that holds "
        "libnvidia-opencl.so.1)";
  return found;
}

/// The number before `unit` in the last place it occurs in a log, as "Used 40 registers"; else -1.
int number_before(const std::string& log, const std::string& unit) {
  const auto at = log.rfind(unit);
  if (at == std::string::npos || at == 0) return -1;
  const auto end = log.find_last_of("0123456789", at);
  if (end == std::string::npos || at - end > 2) return -1;
  auto begin = end;
  while (begin > 0 && std::isdigit(static_cast<unsigned char>(log[begin - 1]))) --begin;
  return std::stoi(log.substr(begin, end - begin + 1));
}

class OpenClDevice : public Device {
 public:
  OpenClDevice(const cl::Api& api, Found found)
      : api_(api), device_(found.device), info_(std::move(found.info)) {
    cl::Int code = 0;
    context_ = {api_.CreateContext(nullptr, 1, &device_, nullptr, nullptr, &code),
                api_.ReleaseContext};
    check(code, "open " + info_.name);
    // No profiling: it would put two timestamps around each launch of a step. mark() waits.
    queue_ = {api_.CreateCommandQueue(context_.get(), device_, 0, &code), api_.ReleaseCommandQueue};
    check(code, "make a queue on " + info_.name);
  }

  ~OpenClDevice() override { api_.Finish(queue_.get()); }

  DeviceInfo info() const override {
    DeviceInfo now = info_;
    now.memory_free = info_.is_cpu ? std::min(info_.memory_total, native_info().memory_free)
                                   : info_.memory_total - std::min(info_.memory_total, taken_);
    return now;
  }

  BufferHandle allocate(std::size_t bytes) override {
    const std::size_t size = std::max<std::size_t>(bytes, 4);
    cl::Int code = -4;
    Owned<cl::Memory> memory;
    if (size <= info().memory_free)
      memory = {api_.CreateBuffer(context_.get(), cl::kMemoryReadWrite, size, nullptr, &code),
                api_.ReleaseMemObject};
    if (code != cl::kSuccess) {
      const auto largest = value_of<cl::Ulong>(api_, device_, cl::kDeviceMaxAllocation, 0);
      throw DeviceError("Not enough memory on " + info_.name + ": " + std::to_string(size >> 20) +
                        " MiB wanted in one piece, " + std::to_string(info().memory_free >> 20) +
                        " MiB free, largest piece " + std::to_string(largest >> 20) + " MiB (" +
                        cl::error_name(code) + ").");
    }
    buffers_[next_buffer_] = {std::move(memory), size};
    taken_ += size;
    return {next_buffer_++};
  }

  void free(BufferHandle buffer) override {
    const auto found = buffers_.find(buffer.id);
    if (found == buffers_.end()) return;
    taken_ -= found->second.size;
    buffers_.erase(found);
  }

  void upload(BufferHandle to, std::size_t offset, std::span<const std::byte> from) override {
    copy_to(to, offset, from, cl::kTrue);
  }

  void download(std::span<std::byte> to, BufferHandle from, std::size_t offset) override {
    copy_from(to, from, offset, cl::kTrue);
  }

  void upload_later(BufferHandle to, std::size_t offset, std::span<const std::byte> from) override {
    copy_to(to, offset, from, cl::kFalse);
  }

  void download_later(std::span<std::byte> to, BufferHandle from, std::size_t offset) override {
    copy_from(to, from, offset, cl::kFalse);
  }

  /// Of drivers of GPUs memory that they have allocated themselves is page-locked.
  std::shared_ptr<std::byte> host_block(std::size_t bytes) override {
    if (info_.is_cpu) return Device::host_block(bytes);
    return page_locked_.take(bytes);
  }

  void zero(BufferHandle buffer) override {
    const Buffer& found = find(buffer);
    const std::uint32_t pattern = 0;
    check(api_.EnqueueFillBuffer(queue_.get(), found.memory.get(), &pattern,
                                 found.size % 4 == 0 ? 4 : 1, 0, found.size, 0, nullptr, nullptr),
          "clear a buffer");
  }

  std::vector<KernelHandle> compile(std::span<const program::Kernel> kernels) override {
    const DiskCache cache = DiskCache::standard();
    // Oclgrind's compiler is not thread-safe, although the standard requires it.
    const bool alone = info_.driver.starts_with("Oclgrind");
    return compile_into(kernels_, kernels, alone ? 1 : int(std::thread::hardware_concurrency()),
                        [&](const program::Kernel& kernel) { return compile_one(kernel, cache); });
  }

  KernelReport report(KernelHandle kernel) const override {
    return kernels_.at(std::size_t(kernel.id)).report;
  }

  void launch(KernelHandle handle, std::span<const BufferHandle> arguments) override {
    const Compiled& kernel = kernels_.at(std::size_t(handle.id));
    check_arguments(kernel, arguments);
    if (!recording_) {
      set_arguments(kernel.object.get(), kernel, arguments);
      enqueue(kernel.object.get(), kernel);
      return;
    }
    // A kernel object of its own keeps its arguments: replaying then only enqueues.
    Recorded recorded{std::size_t(handle.id), make_kernel(kernel.program.get(), kernel.entry)};
    set_arguments(recorded.object.get(), kernel, arguments);
    recording_->push_back(std::move(recorded));
  }

  RecordingHandle record(const std::function<void()>& body) override {
    std::vector<Recorded> launches;
    recording_ = &launches;
    try {
      body();
    } catch (...) {
      recording_ = nullptr;
      throw;
    }
    recording_ = nullptr;
    recordings_.push_back(std::move(launches));
    return {int(recordings_.size()) - 1};
  }

  void replay(RecordingHandle recording) override {
    for (const Recorded& launch : recordings_.at(std::size_t(recording.id)))
      enqueue(launch.object.get(), kernels_[launch.kernel]);
  }

  void synchronise() override { check(api_.Finish(queue_.get()), "finish its work"); }

  int mark() override {
    synchronise();
    marks_.push_back(Clock::now());
    return int(marks_.size()) - 1;
  }

  double seconds_between(int first_mark, int second_mark) override {
    return std::chrono::duration<double>(marks_.at(std::size_t(second_mark)) -
                                         marks_.at(std::size_t(first_mark)))
        .count();
  }

  RawQueue raw_queue() override { return {context_.get(), queue_.get(), device_}; }
  void* raw_memory(BufferHandle buffer) override { return find(buffer).memory.get(); }

 private:
  struct Buffer {
    Owned<cl::Memory> memory;
    std::size_t size = 0;
  };
  struct Compiled {
    std::string name, entry;
    Owned<cl::Program> program;
    Owned<cl::Kernel> object;
    std::array<std::size_t, 3> global{}, local{};
    std::size_t arguments = 0;
    std::size_t local_bytes = 0;  ///< of the last parameter; 0: there is none
    KernelReport report;
  };
  struct Recorded {
    std::size_t kernel;
    Owned<cl::Kernel> object;
  };
  /// What a cache entry holds before the binary.
  struct Header {
    std::int32_t registers = -1, spilled_bytes = -1;
  };

  /// `registers`: the most of a thread; 0: no bound.
  std::string options(const program::Kernel& kernel, int registers) const {
    const bool contract = contraction_allowed(kernel.source);
    std::string text = "-cl-std=CL1.2";
    const auto single = value_of<cl::Ulong>(api_, device_, cl::kDeviceSingleConfig, 0);
    if (!contract && (single & cl::kCorrectlyRounded))
      text += " -cl-fp32-correctly-rounded-divide-sqrt";
    // Drivers that contain clang write the number of a kernel's warnings to the process's error
    // stream.
    text += info_.nvidia ? " -cl-nv-verbose" : " -w";
    // With a declared group size the driver would take all registers there are.
    if (registers > 0) text += " -DVPHI_REGISTERS";
    if (registers > 0 && info_.nvidia) text += " -cl-nv-maxrregcount=" + std::to_string(registers);
    // Options for finding faults of drivers or profiling kernels, such as "-cl-opt-disable".
    if (const char* more = std::getenv("VPHI_OPENCL_OPTIONS"); more && *more)
      text += std::string(" ") + more;
    return text;
  }

  std::string build_log(cl::Program program) const {
    std::size_t size = 0;
    if (api_.GetProgramBuildInfo(program, device_, cl::kProgramBuildLog, 0, nullptr, &size) !=
            cl::kSuccess ||
        size == 0)
      return {};
    std::string log(size, '\0');
    api_.GetProgramBuildInfo(program, device_, cl::kProgramBuildLog, size, log.data(), nullptr);
    log.resize(size - 1);
    return log;
  }

  std::string binary(cl::Program program) const {
    std::size_t size = 0;
    check(api_.GetProgramInfo(program, cl::kProgramBinarySizes, sizeof size, &size, nullptr),
          "give the size of compiled code");
    std::string bytes(size, '\0');
    auto* data = reinterpret_cast<unsigned char*>(bytes.data());
    check(api_.GetProgramInfo(program, cl::kProgramBinaries, sizeof data, &data, nullptr),
          "give compiled code");
    return bytes;
  }

  Owned<cl::Kernel> make_kernel(cl::Program program, const std::string& entry) const {
    cl::Int code = 0;
    Owned<cl::Kernel> kernel{api_.CreateKernel(program, entry.c_str(), &code), api_.ReleaseKernel};
    check(code, "find the kernel function " + entry);
    return kernel;
  }

  Owned<cl::Program> build_source(const program::Kernel& kernel, int registers) const {
    std::string source = kernel.source;
    if (!contraction_allowed(source)) source = "#pragma OPENCL FP_CONTRACT OFF\n#line 1\n" + source;
    const char* text = source.c_str();
    const std::size_t length = source.size();
    cl::Int code = 0;
    Owned<cl::Program> program{
        api_.CreateProgramWithSource(context_.get(), 1, &text, &length, &code),
        api_.ReleaseProgram};
    check(code, "take source");
    code = api_.BuildProgram(program.get(), 1, &device_, options(kernel, registers).c_str(),
                             nullptr, nullptr);
    if (code == cl::kSuccess) return program;
    const std::string log = build_log(program.get());
    if (log.find("too much global constant") != std::string::npos)
      throw LimitError("The tables of kernel '" + kernel.name +
                           "' are larger than the constant memory that the OpenCL driver of " +
                           info_.name + " offers. Tables of fewer points fit; --device cuda and " +
                           "--device native have no such limit.",
                       log);
    throw DeviceError("The OpenCL compiler of " + info_.name + " did not accept a generated " +
                          "kernel (" + cl::error_name(code) + ").",
                      log);
  }

  Owned<cl::Program> load_binary(std::string_view bytes, const program::Kernel& kernel,
                                 int registers) const {
    const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
    const std::size_t size = bytes.size();
    cl::Int status = 0, code = 0;
    Owned<cl::Program> program{
        api_.CreateProgramWithBinary(context_.get(), 1, &device_, &size, &data, &status, &code),
        api_.ReleaseProgram};
    check(code, "load compiled code");
    check(api_.BuildProgram(program.get(), 1, &device_, options(kernel, registers).c_str(), nullptr,
                            nullptr),
          "link compiled code");
    return program;
  }

  /// The largest group is known for compiled code only. Where the registers of a thread leave too
  /// few threads, the kernel is compiled once more with a bound on them.
  Compiled compile_one(const program::Kernel& kernel, const DiskCache& cache) const {
    const int asked = info_.nvidia ? registers_asked(kernel.source) : 0;
    Compiled result = compile_with(kernel, asked, cache);
    const std::size_t wanted = items_of(kernel);
    std::size_t limit = group_limit(result, asked);
    if (const int bound = registers_for(wanted); limit < wanted && (asked == 0 || bound < asked)) {
      result = compile_with(kernel, bound, cache);
      limit = group_limit(result, bound);
    }
    if (limit < wanted)
      throw LimitError("Kernel '" + kernel.name + "' wants work groups of " +
                       std::to_string(wanted) + " items; " + info_.name + " takes at most " +
                       std::to_string(limit) + " of it. --device native runs the model; so does " +
                       "--device cuda where the GPU is NVIDIA's.");
    return result;
  }

  static std::size_t items_of(const program::Kernel& kernel) {
    return std::size_t(kernel.block[0]) * kernel.block[1] * kernel.block[2];
  }

  /// Of the 65536 that a multiprocessor of NVIDIA's has, given out in eights; 255 is the most.
  static int registers_for(std::size_t items) {
    return int(std::clamp<std::size_t>(65536 / items / 8 * 8, 16, 248));
  }

  std::size_t group_limit(const Compiled& compiled, int registers) const {
    std::size_t limit = 0;
    check(api_.GetKernelWorkGroupInfo(compiled.object.get(), device_, cl::kKernelWorkGroupSize,
                                      sizeof limit, &limit, nullptr),
          "describe a kernel");
    // For tests on devices with enough registers: the group limit of code without a bound.
    if (const char* fewer = std::getenv("VPHI_OPENCL_GROUP"); fewer && *fewer && registers == 0)
      limit = std::min<std::size_t>(limit, std::strtoull(fewer, nullptr, 10));
    return limit;
  }

  Compiled compile_with(const program::Kernel& kernel, int registers,
                        const DiskCache& cache) const {
    const std::string key = CacheKey()
                                .add("opencl", info_.name)
                                .add("driver", info_.driver)
                                .add("processor", info_.is_cpu ? processor_identity() : "")
                                .add("options", options(kernel, registers))
                                .add("source", kernel.source)
                                .text();
    Compiled result;
    Header header;
    CodeSource source{
        [&](std::string_view bytes) {
          if (bytes.size() < sizeof header) throw DeviceError("A cache entry is too short.");
          bytes.copy(reinterpret_cast<char*>(&header), sizeof header);
          // Just built: the program is there and need not be loaded again.
          if (result.program.get()) return true;
          result.program = load_binary(bytes.substr(sizeof header), kernel, registers);
          return true;
        },
        [&] {
          result.program = build_source(kernel, registers);
          const std::string log = build_log(result.program.get());
          const Header made{number_before(log, " registers"),
                            number_before(log, " bytes spill stores")};
          return std::string(reinterpret_cast<const char*>(&made), sizeof made) +
                 binary(result.program.get());
        },
    };
    cached_code(cache, key, kernel, source, result.report);
    result.report.registers = header.registers;
    result.report.spilled_bytes = header.spilled_bytes;
    result.name = kernel.name;
    result.entry = kernel.entry;
    result.object = make_kernel(result.program.get(), kernel.entry);
    result.arguments = kernel.arguments.size();
    shape(kernel, result);
    return result;
  }

  void shape(const program::Kernel& kernel, Compiled& result) const {
    cl::Uint parameters = 0;
    check(api_.GetKernelInfo(result.object.get(), cl::kKernelArguments, sizeof parameters,
                             &parameters, nullptr),
          "describe a kernel");
    const bool local = kernel.shared_bytes > 0 && parameters == result.arguments + 1;
    if (parameters != result.arguments + (local ? 1 : 0))
      throw DeviceError("Kernel '" + kernel.name + "' has " + std::to_string(parameters) +
                        " parameters for " + std::to_string(result.arguments) + " arguments.");
    result.local_bytes = local ? kernel.shared_bytes : 0;
    for (std::size_t d = 0; d < 3; ++d) {
      result.local[d] = kernel.block[d];
      result.global[d] = std::size_t(kernel.block[d]) * kernel.grid[d];
    }
  }

  void set_arguments(cl::Kernel object, const Compiled& kernel,
                     std::span<const BufferHandle> arguments) const {
    cl::Uint index = 0;
    for (BufferHandle buffer : arguments) {
      cl::Memory memory = find(buffer).memory.get();
      check(api_.SetKernelArg(object, index++, sizeof memory, &memory), "set an argument");
    }
    if (kernel.local_bytes)
      check(api_.SetKernelArg(object, index, kernel.local_bytes, nullptr), "set local memory");
  }

  void enqueue(cl::Kernel object, const Compiled& kernel) {
    check(api_.EnqueueNDRangeKernel(queue_.get(), object, 3, nullptr, kernel.global.data(),
                                    kernel.local.data(), 0, nullptr, nullptr),
          "launch kernel '" + kernel.name + "'");
    if (++queued_ % 16 == 0) api_.Flush(queue_.get());  // the device starts while more is queued
  }

  void copy_to(BufferHandle to, std::size_t offset, std::span<const std::byte> from,
               cl::Bool wait) {
    if (from.empty()) return;
    check(api_.EnqueueWriteBuffer(queue_.get(), range(to, offset, from.size()), wait, offset,
                                  from.size(), from.data(), 0, nullptr, nullptr),
          "copy to the device");
  }

  void copy_from(std::span<std::byte> to, BufferHandle from, std::size_t offset, cl::Bool wait) {
    if (to.empty()) return;
    check(api_.EnqueueReadBuffer(queue_.get(), range(from, offset, to.size()), wait, offset,
                                 to.size(), to.data(), 0, nullptr, nullptr),
          "copy from the device");
  }

  /// Blocks stay mapped. They may be released by other threads, and after the device.
  HostBlocks page_locked_blocks() {
    struct Mapped {
      std::mutex guard;
      std::map<void*, Owned<cl::Memory>> blocks;
    };
    const auto mapped = std::make_shared<Mapped>();
    return {[this, mapped](std::size_t bytes) {
              cl::Int code = cl::kSuccess;
              Owned<cl::Memory> memory{
                  api_.CreateBuffer(context_.get(), cl::kMemoryReadWrite | cl::kMemoryOfHost, bytes,
                                    nullptr, &code),
                  api_.ReleaseMemObject};
              check(code, "lock host memory for copies");
              void* at = api_.EnqueueMapBuffer(queue_.get(), memory.get(), cl::kTrue,
                                               cl::kMapRead | cl::kMapWrite, 0, bytes, 0, nullptr,
                                               nullptr, &code);
              check(code, "lock host memory for copies");
              const std::lock_guard lock(mapped->guard);
              mapped->blocks[at] = std::move(memory);
              return at;
            },
            [mapped](void* at) {
              const std::lock_guard lock(mapped->guard);
              mapped->blocks.erase(at);
            }};
  }

  const Buffer& find(BufferHandle buffer) const {
    const auto found = buffers_.find(buffer.id);
    if (found == buffers_.end()) throw DeviceError("A buffer was used that does not exist.");
    return found->second;
  }

  cl::Memory range(BufferHandle buffer, std::size_t offset, std::size_t bytes) const {
    const Buffer& found = find(buffer);
    if (offset > found.size || bytes > found.size - offset)
      throw DeviceError("A copy reaches beyond the end of its buffer.");
    return found.memory.get();
  }

  const cl::Api& api_;
  cl::DeviceId device_;
  DeviceInfo info_;
  Owned<cl::Context> context_;
  Owned<cl::Queue> queue_;
  std::map<int, Buffer> buffers_;
  int next_buffer_ = 0;
  std::size_t taken_ = 0;
  std::vector<Compiled> kernels_;
  std::vector<std::vector<Recorded>> recordings_;
  std::vector<Recorded>* recording_ = nullptr;
  std::size_t queued_ = 0;
  std::vector<Clock::time_point> marks_;
  HostBlocks page_locked_ = page_locked_blocks();
};

}  // namespace

std::vector<DeviceInfo> list_opencl(std::string* why) {
  std::vector<DeviceInfo> list;
  const std::lock_guard alone(one_at_a_time());
  for (Found& found : find_devices(why)) list.push_back(std::move(found.info));
  return list;
}

std::unique_ptr<Device> open_opencl(int index) {
  std::string why;
  const std::lock_guard alone(one_at_a_time());
  std::vector<Found> found = find_devices(&why);
  if (found.empty()) throw DeviceError("There is no OpenCL device: " + why + ".");
  if (index < 0 || index >= int(found.size()))
    throw DeviceError("There is no device opencl:" + std::to_string(index) + "; the last one is " +
                      "opencl:" + std::to_string(found.size() - 1) + ".");
  return std::make_unique<OpenClDevice>(*cl::Api::get(), std::move(found[std::size_t(index)]));
}

}  // namespace vphi::runtime
