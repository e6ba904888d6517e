#include "runtime/device/ceilings.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <vector>

#include "runtime/device/cache.hpp"

namespace vphi::runtime {
namespace {

using program::Kernel;
using program::Target;

constexpr int kFewest = 3, kMost = 12;
constexpr double kEnough = 0.12;  // seconds a kernel is repeated for
constexpr std::uint32_t kThreads = 256;

std::string replaced(std::string text, const std::string& name, const std::string& value) {
  for (auto at = text.find(name); at != std::string::npos; at = text.find(name, at + value.size()))
    text.replace(at, name.size(), value);
  return text;
}

// Each thread moves @n@ pieces of 16 bytes, all loads before the stores.
constexpr const char* kCopyGpu = R"(@head@
  const unsigned long first = (unsigned long)@group@ * (256 * @n@) + @local@;
  @type@ piece[@n@];
@unroll@
  for (int i = 0; i < @n@; ++i) piece[i] = from[first + 256 * i];
@unroll@
  for (int i = 0; i < @n@; ++i) to[first + 256 * i] = piece[i];
}
)";

constexpr const char* kCopyNative = R"(extern "C" void vphi_copy(void* const* args, long task) {
  const double* __restrict__ from = (const double*)args[0] + task * @words@L;
  double* __restrict__ to = (double*)args[1] + task * @words@L;
  @body@
}
)";

constexpr const char* kFmaGpu = R"(@head@
  @type@ a0 = (@type@)@local@, a1 = a0 + 1, a2 = a0 + 2, a3 = a0 + 3;
  @type@ a4 = a0 + 4, a5 = a0 + 5, a6 = a0 + 6, a7 = a0 + 7;
  const @type@ b = (@type@)0.999, c = (@type@)0.001;
  for (int i = 0; i < @n@; ++i) {
    a0 = fma(a0, b, c); a1 = fma(a1, b, c); a2 = fma(a2, b, c); a3 = fma(a3, b, c);
    a4 = fma(a4, b, c); a5 = fma(a5, b, c); a6 = fma(a6, b, c); a7 = fma(a7, b, c);
  }
  to[@group@ * 256 + @local@] = a0 + a1 + a2 + a3 + a4 + a5 + a6 + a7;
}
)";

// Ten independent chains hide the latency of the two multiply-add units.
constexpr const char* kFmaNative = R"(
#if defined(__AVX512F__)
typedef @type@ vector __attribute__((vector_size(64)));
#elif defined(__AVX__)
typedef @type@ vector __attribute__((vector_size(32)));
#else
typedef @type@ vector __attribute__((vector_size(16)));
#endif
extern "C" void vphi_fma(void* const* args, long task) {
  vector a0 = {}, a1, a2, a3, a4, a5, a6, a7, a8, a9;
  a0 += (@type@)task;
  a1 = a0 + 1; a2 = a0 + 2; a3 = a0 + 3; a4 = a0 + 4; a5 = a0 + 5; a6 = a0 + 6;
  a7 = a0 + 7; a8 = a0 + 8; a9 = a0 + 9;
  const @type@ b = (@type@)0.999, c = (@type@)0.001;
  for (int i = 0; i < @n@; ++i) {
    a0 = a0 * b + c; a1 = a1 * b + c; a2 = a2 * b + c; a3 = a3 * b + c; a4 = a4 * b + c;
    a5 = a5 * b + c; a6 = a6 * b + c; a7 = a7 * b + c; a8 = a8 * b + c; a9 = a9 * b + c;
  }
  const vector sum = a0 + a1 + a2 + a3 + a4 + a5 + a6 + a7 + a8 + a9;
  ((double*)args[0])[task] = sum[0];
  ((long*)args[1])[task] = sizeof(vector) / sizeof(@type@);
}
)";

std::string gpu_source(std::string text, Target target, const std::string& entry,
                       const std::string& parameters) {
  const bool cuda = target == Target::Cuda;
  text =
      replaced(text, "@head@",
               (cuda ? "extern \"C\" __global__ void __launch_bounds__(256) "
                     : "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n__kernel void ") +
                   entry + "(" + replaced(parameters, "@global@", cuda ? "" : "__global ") + ") {");
  text = replaced(text, "@group@", cuda ? "blockIdx.x" : "get_group_id(0)");
  text = replaced(text, "@local@", cuda ? "threadIdx.x" : "get_local_id(0)");
  return replaced(text, "@unroll@",
                  cuda ? "#pragma unroll" : "__attribute__((opencl_unroll_hint))");
}

std::vector<Kernel> copy_kernels(const DeviceInfo& info, std::size_t bytes) {
  std::vector<Kernel> kernels;
  Kernel kernel;
  kernel.entry = "vphi_copy";
  kernel.arguments = {{program::Argument::Kind::Current, 0}, {program::Argument::Kind::Current, 1}};
  if (info.target == Target::Native) {
    const std::uint32_t tasks = std::uint32_t(4 * info.compute_units);
    const std::string words = std::to_string(bytes / tasks / 8);
    kernel.grid = {tasks, 1, 1};
    for (const char* body : {"__builtin_memcpy(to, from, @words@L * 8);",
                             "for (long i = 0; i < @words@L; ++i) to[i] = from[i] * 1.0000001;"}) {
      kernel.name = "copy";
      kernel.source = replaced(replaced(kCopyNative, "@body@", body), "@words@", words);
      kernels.push_back(kernel);
    }
    return kernels;
  }
  for (std::uint32_t n : {1u, 2u, 4u, 8u}) {
    kernel.name = "copy";
    kernel.source =
        replaced(replaced(gpu_source(kCopyGpu, info.target, "vphi_copy",
                                     "@global@ const @type@* from, @global@ @type@* to"),
                          "@type@", "int4"),
                 "@n@", std::to_string(n));
    kernel.block = {kThreads, 1, 1};
    kernel.grid = {std::uint32_t(bytes / 16 / kThreads / n), 1, 1};
    kernels.push_back(kernel);
  }
  return kernels;
}

Kernel fma_kernel(const DeviceInfo& info, const std::string& type, int repeats) {
  Kernel kernel;
  kernel.name = "multiply-add";
  kernel.entry = "vphi_fma";
  kernel.arguments = {{program::Argument::Kind::Current, 0}, {program::Argument::Kind::Current, 1}};
  if (info.target == Target::Native) {
    kernel.source = kFmaNative;
    kernel.grid = {std::uint32_t(4 * info.compute_units), 1, 1};
  } else {
    kernel.source = gpu_source(kFmaGpu, info.target, "vphi_fma",
                               "@global@ @type@* to, @global@ @type@* unused");
    kernel.grid = {std::uint32_t(info.is_cpu ? 4 * info.compute_units : 32 * info.compute_units), 1,
                   1};
    kernel.block = {kThreads, 1, 1};
  }
  kernel.source = replaced(replaced(kernel.source, "@type@", type), "@n@", std::to_string(repeats));
  return kernel;
}

/// Least seconds of several runs, after one to warm up.
double best_seconds(Device& device, KernelHandle kernel, const std::vector<BufferHandle>& buffers) {
  device.launch(kernel, buffers);
  double best = INFINITY;
  double spent = 0;
  for (int i = 0; i < kFewest || (i < kMost && spent < kEnough); ++i) {
    const int begin = device.mark();
    device.launch(kernel, buffers);
    const int end = device.mark();
    const double seconds = device.seconds_between(begin, end);
    if (seconds > 0) best = std::min(best, seconds);
    spent += seconds;
  }
  return best;
}

class Buffers {
 public:
  explicit Buffers(Device& device) : device_(device) {}
  ~Buffers() {
    for (BufferHandle buffer : list) device_.free(buffer);
  }
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;
  void add(std::size_t bytes) {
    list.push_back(device_.allocate(bytes));
    device_.zero(list.back());
  }
  std::vector<BufferHandle> list;

 private:
  Device& device_;
};

std::size_t copy_bytes(const DeviceInfo& info) {
  std::size_t wanted = std::size_t(1) << 30;
  if (info.is_cpu) {
    const long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
    wanted = std::clamp(3 * std::size_t(std::max(0L, cache)), std::size_t(64) << 20,
                        std::size_t(512) << 20);
  }
  const std::size_t grain = std::size_t(1) << 20;
  return std::max(grain, std::min(wanted, info.memory_free / 8) / grain * grain);
}

std::string key_of(const DeviceInfo& info) {
  return CacheKey()
      .add("ceiling", "copy bandwidth 2")
      .add("device", info.name)
      .add("driver", info.driver)
      .add("kind", info.id.substr(0, info.id.find(':')))
      .add("units", std::to_string(info.compute_units))
      .text();
}

}  // namespace

double measure_copy_bandwidth(Device& device) {
  const DeviceInfo info = device.info();
  const std::size_t bytes = copy_bytes(info);
  const std::vector<Kernel> kernels = copy_kernels(info, bytes);
  const std::vector<KernelHandle> handles = device.compile(kernels);
  Buffers buffers(device);
  buffers.add(bytes);
  buffers.add(bytes);
  double best = 0;
  for (KernelHandle handle : handles)
    best = std::max(best, 2.0 * double(bytes) / best_seconds(device, handle, buffers.list));
  return best;
}

double measure_flops(Device& device, program::Precision precision) {
  const DeviceInfo info = device.info();
  const bool single = precision == program::Precision::F32;
  if (!single && !info.f64) return 0;
  const bool native = info.target == Target::Native;
  const int repeats = native ? 20000 : info.is_cpu ? 2000 : 4096;
  const Kernel kernel = fma_kernel(info, single ? "float" : "double", repeats);
  const KernelHandle handle = device.compile(std::span(&kernel, 1)).at(0);
  Buffers buffers(device);
  const std::size_t words = std::size_t(kernel.grid[0]) * kernel.block[0];
  buffers.add(8 * words);
  buffers.add(8 * words);
  const double seconds = best_seconds(device, handle, buffers.list);
  if (!native) return 2.0 * 8 * repeats * double(words) / seconds;
  long lanes = 0;
  device.download(std::as_writable_bytes(std::span(&lanes, 1)), buffers.list[1], 0);
  return 2.0 * 10 * repeats * double(lanes) * double(kernel.grid[0]) / seconds;
}

std::optional<double> known_copy_bandwidth(const DeviceInfo& info) {
  const auto text = DiskCache::standard().load(key_of(info));
  if (!text) return std::nullopt;
  std::istringstream in(*text);
  double value = 0;
  if (!(in >> value) || !(value > 0)) return std::nullopt;
  return value;
}

double copy_bandwidth(Device& device) {
  const DeviceInfo info = device.info();
  if (const auto known = known_copy_bandwidth(info)) return *known;
  const double measured = measure_copy_bandwidth(device);
  DiskCache::standard().store(key_of(info), std::to_string(measured));
  return measured;
}

}  // namespace vphi::runtime
