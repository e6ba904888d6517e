// The interface to a device, with three implementations (native, opencl, cuda).
//
// A Device owns memory and compiled kernels; handles are small integers that are valid until freed.
// Work is asynchronous and in order: launches and copies are queued, `synchronise` waits for all of
// them, `download` for the data that it reads. A Recording is a sequence of launches that is
// repeated by one call (on CUDA devices a graph). All failures throw DeviceError, which contains a
// sentence for the user and, separately, the log of the driver or compiler.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "program/program.hpp"
#include "runtime/device/native/host_blocks.hpp"

namespace vphi::runtime {

struct DeviceError : std::runtime_error {
  DeviceError(std::string message, std::string log_text = {})
      : std::runtime_error(std::move(message)), log(std::move(log_text)) {}
  std::string log;
};

struct DeviceInfo {
  std::string id;      ///< "native", "opencl:0", "cuda:0": the argument of --device
  std::string name;    ///< "NVIDIA H200"
  std::string driver;  ///< versions, part of the cache key
  program::Target target = program::Target::Native;
  std::size_t memory_total = 0, memory_free = 0;
  int compute_units = 1;
  bool is_cpu = false;
  bool f64 = true;
  std::size_t local_bytes = 48 * 1024;  ///< shared memory a block may have
  int major = 0, minor = 0;             ///< CUDA compute capability
  bool nvidia = false;                  ///< OpenCL on an NVIDIA GPU: inline PTX is allowed
};

struct BufferHandle {
  int id = -1;
};
struct KernelHandle {
  int id = -1;
};
struct RecordingHandle {
  int id = -1;
};

/// The report of the device's compiler on a kernel; -1 where unknown.
struct KernelReport {
  int registers = -1;
  int spilled_bytes = -1;
  double compile_seconds = 0;
  bool from_cache = false;
};

/// Handles with which a vendor's library works on the memory and in the queue of this device:
/// CUcontext and CUstream, or cl_context, cl_command_queue and cl_device_id. Null for other
/// devices.
struct RawQueue {
  void *context = nullptr, *queue = nullptr, *device = nullptr;
};

/// What another process of this machine needs to reach a buffer: CUDA's handle of an allocation,
/// and where the buffer begins in it.
struct SharedMemory {
  std::array<std::byte, 64> handle{};
  std::uint64_t offset = 0;
};

/// Until when a device repeats launches by itself (Device::record_rounds). Places are those of
/// numbers of the first instance in `scalars`; those of the next are `distance` further.
struct Rounds {
  BufferHandle scalars;                      ///< f64
  std::int64_t instances = 1, distance = 1;  ///< `distance` counts numbers
  std::int64_t done = 0;  ///< 0: the instance goes on; 1: it is done; else: it failed
  std::int64_t most = 1;  ///< rounds
  std::int64_t iterations = 0, residual = 0;
  /// Of kFailure + as many f64 as there are numbers. The first failure after they were zero is
  /// noted in front: {number + 1, instance, `done`, `iterations`, `residual`}. Behind that the most
  /// `iterations` of an instance are added to the number `number`.
  BufferHandle notes;
  static constexpr std::size_t kFailure = 5;
  int number = 0;
};

class Device {
 public:
  virtual ~Device() = default;
  virtual DeviceInfo info() const = 0;

  virtual BufferHandle allocate(std::size_t bytes) = 0;  ///< contents undefined
  virtual void free(BufferHandle buffer) = 0;
  virtual void upload(BufferHandle to, std::size_t offset, std::span<const std::byte> from) = 0;
  virtual void download(std::span<std::byte> to, BufferHandle from, std::size_t offset) = 0;
  /// The same in the order of the queue, without a wait: the memory of the host is a host_block, of
  /// this device or another one, and may be read or written again after the next `synchronise`.
  virtual void upload_later(BufferHandle to, std::size_t offset, std::span<const std::byte> from) {
    upload(to, offset, from);
  }
  virtual void download_later(std::span<std::byte> to, BufferHandle from, std::size_t offset) {
    download(to, from, offset);
  }
  virtual void zero(BufferHandle buffer) = 0;

  /// Compiles the kernels in parallel, using the cache. Returns their handles in the same order.
  virtual std::vector<KernelHandle> compile(std::span<const program::Kernel> kernels) = 0;
  virtual KernelReport report(KernelHandle kernel) const = 0;

  /// `arguments`: one buffer for each program::Argument of the kernel.
  virtual void launch(KernelHandle kernel, std::span<const BufferHandle> arguments) = 0;
  /// Successive launches of one kernel without sums, which may overlap: a task may begin when the
  /// tasks within distance `reach` of it (periodic in the task number) have ended in the launch
  /// before.
  virtual void launch_wave(KernelHandle kernel,
                           std::span<const std::vector<BufferHandle>> arguments,
                           std::int64_t /*reach*/) {
    for (const auto& own : arguments) launch(kernel, own);
  }
  /// Launches made inside `body` are recorded, not run.
  virtual RecordingHandle record(const std::function<void()>& body) = 0;
  virtual void replay(RecordingHandle recording) = 0;
  /// Whether `record_rounds` can be called.
  virtual bool repeats_rounds() { return false; }
  /// `round` is repeated, once at least, until every instance is done or has failed, or for `most`
  /// rounds; then come `end` and the notes. A round may be made once more than it
  /// must; it changes nothing in an instance that is done.
  virtual RecordingHandle record_rounds(const std::function<void()>& /*round*/,
                                        const std::function<void()>& /*end*/, const Rounds&) {
    throw DeviceError("This device does not repeat launches by itself.");
  }
  /// Frees a recording.
  virtual void forget(RecordingHandle) {}
  virtual void synchronise() = 0;
  /// The same, and for all work that other libraries of this process have queued on this device.
  virtual void synchronise_all() { synchronise(); }
  /// What is queued here from now on begins after all that other libraries of this process have
  /// queued on this device; the host need not wait for it.
  virtual void follow_others() { synchronise_all(); }
  /// What is queued from now on in `queue`, a CUstream of another library or CUDA's numbers for its
  /// two default streams, begins after all that was queued here; the host need not wait for it.
  virtual void let_follow(void* /*queue*/) { synchronise(); }
  /// Seconds between two points of the queue: mark() returns a ticket.
  virtual int mark() = 0;
  virtual double seconds_between(int first_mark, int second_mark) = 0;

  /// Host memory for copies of whole arrays, page-locked where that makes them faster. It is reused
  /// when its last owner, in any thread, releases it.
  virtual std::shared_ptr<std::byte> host_block(std::size_t bytes) { return blocks_.take(bytes); }

  /// For libraries that work on the device (Fourier transforms). Makes the device current for the
  /// calling thread.
  virtual RawQueue raw_queue() { return {}; }
  /// CUdeviceptr or cl_mem of a buffer, as a pointer; null where there is none.
  virtual void* raw_memory(BufferHandle) { return nullptr; }
  /// Lets kernels of this device use the memory of another one that this process has open, by its
  /// DeviceInfo::id. False: they cannot reach it.
  virtual bool reach(const std::string&) { return false; }
  /// Lets another process of this machine reach a buffer. Nothing: the device cannot do that.
  virtual std::optional<SharedMemory> share(BufferHandle) { return {}; }
  /// The address, for kernels of this device, of a buffer that another process has shared. It is
  /// valid as long as this device is open. 0: it cannot be reached.
  virtual std::uint64_t open_shared(const SharedMemory&) { return 0; }

 private:
  HostBlocks blocks_;
};

/// The reason why HIP kernels do not run: their text can be emitted, but no runtime compiles and
/// launches it.
inline constexpr const char* kNoHip =
    "HIP does not run here yet: `vphi emit MODEL --to hip` writes its text alone. Write native, "
    "opencl or cuda; AMD's GPUs are among the OpenCL devices.";

/// All devices that can be opened now, best first.
std::vector<DeviceInfo> list_devices();
/// `id`: auto, native, opencl[:k], cuda[:k]. Throws DeviceError that says what is missing.
std::unique_ptr<Device> open_device(const std::string& id);

}  // namespace vphi::runtime
