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
using program::Precision;
using program::Target;

constexpr int kFewest = 3, kMost = 12;
constexpr double kEnough = 0.12;  // seconds a kernel is repeated for
constexpr std::uint32_t kThreads = 256, kThreadsAlone = 32;
constexpr const char* kAllCeilings = "all ceilings 4";

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

// Independent chains of values hide the latency of the operation measured; @steps@ advances each
// chain.
constexpr const char* kChainsGpu = R"(@head@
  const @type@ b = (@type@)0.999, c = (@type@)0.001;
  @type@ @begin@;
  for (int i = 0; i < @n@; ++i) {
    @steps@
  }
  to[@group@ * 256 + @local@] = @sum@;
}
)";

constexpr const char* kChainsNative = R"(
#if defined(__AVX512F__)
typedef @type@ vector __attribute__((vector_size(64)));
#elif defined(__AVX__)
typedef @type@ vector __attribute__((vector_size(32)));
#else
typedef @type@ vector __attribute__((vector_size(16)));
#endif
extern "C" void vphi_chains(void* const* args, long task) {
  const @type@ b = (@type@)0.999, c = (@type@)0.001, first = (@type@)task;
  vector @begin@;
  for (int i = 0; i < @n@; ++i) {
    @steps@
  }
  const vector sum = @sum@;
  ((double*)args[0])[task] = sum[0];
  ((long*)args[1])[task] = sizeof(vector) / sizeof(@type@);
}
)";
// A quotient in f64 as kernels on NVIDIA's GPUs write it out: an estimate and fused steps.
constexpr const char* kQuotient = R"(@f64@
@inline@ inline double quotient(double a, double b) {
  double seed;
  @asm@("rcp.approx.ftz.f64 %0, %1;" : "=d"(seed) : "d"(b));
  const double reciprocal = fma(fma(-b, seed, 1.0), seed, seed), first = a * reciprocal;
  return fma(fma(-b, first, a), reciprocal, first);
}
)";
constexpr int kChainsOfGpu = 8, kChainsOfProcessor = 10;  ///< of processors: for two fma units

constexpr const char* kEnableF64 = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable";

std::string gpu_source(std::string text, Target target, const std::string& entry,
                       const std::string& parameters) {
  const bool cuda = target == Target::Cuda;
  text =
      replaced(text, "@head@",
               (cuda ? "extern \"C\" __global__ void __launch_bounds__(256) "
                     : std::string(kEnableF64) + "\n__kernel void ") +
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

/// `count` copies of `text`, @a@ being a0, a1, ... and @k@ 0, 1, ..., with `between` them.
std::string for_each_chain(int count, const std::string& text, const std::string& between) {
  std::string all;
  for (int k = 0; k < count; ++k) {
    const std::string number = std::to_string(k);
    all += (k > 0 ? between : "") + replaced(replaced(text, "@a@", "a" + number), "@k@", number);
  }
  return all;
}

/// A kernel that takes `step` of each chain `repeats` times, in `type`: of so many chains that a
/// device is full, or of one in a single group.
Kernel chains_kernel(const DeviceInfo& info, const std::string& name, const std::string& type,
                     const std::string& step, int repeats, bool alone = false) {
  const bool native = info.target == Target::Native;
  const int chains = alone ? 1 : native ? kChainsOfProcessor : kChainsOfGpu;
  Kernel kernel;
  kernel.name = name;
  kernel.entry = "vphi_chains";
  kernel.arguments = {{program::Argument::Kind::Current, 0}, {program::Argument::Kind::Current, 1}};
  const auto groups = std::uint32_t((native || info.is_cpu ? 4 : 32) * info.compute_units);
  kernel.grid = {alone ? 1 : groups, 1, 1};
  std::string begin = "@a@ = (@type@)@local@ + @k@";
  if (native) {
    kernel.source = kChainsNative;
    begin = "@a@ = vector{} + (first + @k@)";
  } else {
    kernel.source = gpu_source(kChainsGpu, info.target, kernel.entry,
                               "@global@ @type@* to, @global@ @type@* unused");
    begin =
        replaced(begin, "@local@", info.target == Target::Cuda ? "threadIdx.x" : "get_local_id(0)");
    kernel.block = {alone ? kThreadsAlone : kThreads, 1, 1};
  }
  kernel.source = replaced(kernel.source, "@begin@", for_each_chain(chains, begin, ", "));
  kernel.source =
      replaced(kernel.source, "@steps@", for_each_chain(chains, "@a@ = " + step + ";", " "));
  kernel.source = replaced(kernel.source, "@sum@", for_each_chain(chains, "@a@", " + "));
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

/// Least seconds of a launch in a recorded sequence.
double seconds_of_sequence(Device& device, KernelHandle kernel,
                           const std::vector<BufferHandle>& buffers, int launches) {
  const RecordingHandle sequence = device.record([&] {
    for (int i = 0; i < launches; ++i) device.launch(kernel, buffers);
  });
  double best = INFINITY;
  for (int i = 0; i <= kFewest; ++i) {
    const int begin = device.mark();
    device.replay(sequence);
    const int end = device.mark();
    best = std::min(best, device.seconds_between(begin, end));
  }
  return best / launches;
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

std::string key_of(const DeviceInfo& info, const char* what = "copy bandwidth 2") {
  return CacheKey()
      .add("ceiling", what)
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

std::vector<CacheRate> measure_caches(Device& device, double copy) {
  constexpr std::size_t kSmallest = std::size_t(1) << 20, kLargest = std::size_t(256) << 20;
  constexpr double kFaster = 1.1, kMoved = 2e8;  // bytes of a repetition
  const std::size_t largest = std::min(kLargest, copy_bytes(device.info()));
  Buffers buffers(device);
  buffers.add(largest);
  buffers.add(largest);
  std::vector<CacheRate> found;
  for (std::size_t bytes = kSmallest; bytes <= largest; bytes *= 2) {
    const int launches = std::max(4, int(kMoved / (2.0 * double(bytes))));
    double seconds = INFINITY;
    for (const KernelHandle kernel : device.compile(copy_kernels(device.info(), bytes)))
      seconds = std::min(seconds, seconds_of_sequence(device, kernel, buffers.list, launches));
    const double rate = 2.0 * double(bytes) / seconds;
    if (rate < kFaster * copy) break;
    // what a larger size reaches, a smaller one reaches too, but for the time of its launches
    for (CacheRate& smaller : found) smaller.rate = std::max(smaller.rate, rate);
    found.push_back({2.0 * double(bytes), rate});
  }
  return found;
}

double Ceilings::rate_of(double arrays) const {
  for (const CacheRate& cache : caches)
    if (arrays > 0 && arrays <= cache.bytes) return cache.rate;
  return copy;
}

namespace {

/// What a chain does again and again; no source: the device lacks the precision.
struct ChainStep {
  std::string name, step, functions;
  int repeats = 0;
};

/// Least seconds of the kernel of such chains, and how many steps it makes.
struct TimedChains {
  double seconds = 0, steps = 0;
};
TimedChains timed_chains(Device& device, program::Precision precision, const ChainStep& of,
                         bool alone) {
  const DeviceInfo info = device.info();
  const bool single = precision == program::Precision::F32;
  if (!single && !info.f64) return {};
  const bool native = info.target == Target::Native;
  // OpenCL on a processor: a work item is a vector, for not every driver makes one of its loop
  const std::size_t wide = !native && info.is_cpu ? 8 : 1;
  const std::string type =
      std::string(single ? "float" : "double") + (wide > 1 ? std::to_string(wide) : "");
  Kernel kernel = chains_kernel(info, of.name, type, of.step, of.repeats, alone);
  kernel.source = of.functions + kernel.source;
  const KernelHandle handle = device.compile(std::span(&kernel, 1)).at(0);
  Buffers buffers(device);
  const std::size_t words = std::size_t(kernel.grid[0]) * kThreads;
  buffers.add(8 * wide * words);
  buffers.add(8 * wide * words);
  const double seconds = best_seconds(device, handle, buffers.list);
  if (alone) return {seconds, double(of.repeats)};
  const double threads = double(kernel.grid[0]) * kernel.block[0];
  if (!native) return {seconds, double(kChainsOfGpu) * of.repeats * double(wide) * threads};
  long lanes = 0;
  device.download(std::as_writable_bytes(std::span(&lanes, 1)), buffers.list[1], 0);
  return {seconds, double(kChainsOfProcessor) * of.repeats * double(lanes) * kernel.grid[0]};
}

/// Steps of many chains per second; 0 where the precision is lacking.
double chain_steps(Device& device, program::Precision precision, const ChainStep& of) {
  const TimedChains timed = timed_chains(device, precision, of, false);
  return timed.seconds > 0 ? timed.steps / timed.seconds : 0;
}

/// Seconds of a step of one chain, from a long and a short chain, so that their start is left out.
double chain_latency(Device& device, program::Precision precision, ChainStep of) {
  const TimedChains brief = timed_chains(device, precision, of, true);
  constexpr int kLonger = 64;
  of.repeats *= kLonger;
  const TimedChains whole = timed_chains(device, precision, of, true);
  if (whole.steps == 0) return 0;
  return std::max(0.0, whole.seconds - brief.seconds) / (whole.steps - brief.steps);
}

ChainStep multiply_adds(const DeviceInfo& info) {
  const bool native = info.target == Target::Native;
  const int repeats = native ? 20000 : info.is_cpu ? 2000 : 4096;
  return {"multiply-add", native ? "@a@ * b + c" : "fma(@a@, b, c)", {}, repeats};
}

constexpr int kSpecialsOfStep = 2;  ///< on GPUs: a quotient and an exponential

/// The function `quotient` of a GPU's kernels in f64, where they have one of their own.
std::string quotient_function(const DeviceInfo& info, bool single) {
  const bool cuda = info.target == Target::Cuda;
  if (single || !(cuda || info.nvidia)) return {};
  std::string text = replaced(kQuotient, "@inline@", cuda ? "static __device__" : "static");
  text = replaced(text, "@asm@", cuda ? "asm" : "__asm__");
  return replaced(text, "@f64@", cuda ? "" : kEnableF64);
}

/// The special function that is over first.
ChainStep quotients(const DeviceInfo& info, program::Precision precision) {
  const bool single = precision == program::Precision::F32;
  const int repeats = info.target == Target::Native ? 5000 : info.is_cpu ? 200 : 512;
  const std::string functions = quotient_function(info, single);
  std::string step = functions.empty() ? "b / (@a@ + c)" : "quotient(b, @a@ + c)";
  if (single && info.target == Target::Cuda) step = "__fdividef(b, @a@ + c)";
  if (single && info.target == Target::OpenCL) step = "native_divide(b, @a@ + c)";
  return {"quotient", step, functions, repeats};
}

ChainStep specials(const DeviceInfo& info, program::Precision precision) {
  const bool single = precision == program::Precision::F32;
  if (info.target == Target::Native) return quotients(info, precision);
  // bounded: exp(-1/(1 + a)) of a >= 0 lies between 0.36 and 1
  std::string step = "exp(-b / (b + @a@))";
  if (single && info.target == Target::Cuda) step = "__expf(__fdividef(-b, b + @a@))";
  if (single && info.target == Target::OpenCL) step = "native_exp(native_divide(-b, b + @a@))";
  const std::string functions = quotient_function(info, single);
  if (!functions.empty()) step = "exp(quotient(-b, b + @a@))";
  return {"quotient and exp", step, functions, info.is_cpu ? 200 : 512};
}

double specials_of_step(const DeviceInfo& info) {
  return info.target == Target::Native ? 1 : kSpecialsOfStep;
}

}  // namespace

double measure_flops(Device& device, program::Precision precision) {
  return 2 * chain_steps(device, precision, multiply_adds(device.info()));
}

double measure_special(Device& device, program::Precision precision) {
  const DeviceInfo info = device.info();
  return specials_of_step(info) * chain_steps(device, precision, specials(info, precision));
}

double measure_latency(Device& device, program::Precision precision) {
  return chain_latency(device, precision, multiply_adds(device.info()));
}

double measure_special_latency(Device& device, program::Precision precision) {
  const DeviceInfo info = device.info();
  const double step = chain_latency(device, precision, quotients(info, precision));
  return std::max(0.0, step - measure_latency(device, precision));  // of the addition in it
}

double measure_launch(Device& device) {
  const DeviceInfo info = device.info();
  Kernel kernel = chains_kernel(info, "nothing", "float", "@a@ * b + c", 1);
  kernel.grid = {1, 1, 1};
  const KernelHandle handle = device.compile(std::span(&kernel, 1)).at(0);
  Buffers buffers(device);
  buffers.add(8 * std::size_t(kThreads));
  buffers.add(8 * std::size_t(kThreads));
  return seconds_of_sequence(device, handle, buffers.list, 200);
}

Ceilings measure_ceilings(Device& device) {
  Ceilings c;
  c.copy = measure_copy_bandwidth(device);
  c.caches = measure_caches(device, c.copy);
  c.f32 = measure_flops(device, Precision::F32);
  c.f64 = measure_flops(device, Precision::F64);
  c.special32 = measure_special(device, Precision::F32);
  c.special64 = measure_special(device, Precision::F64);
  c.launch = measure_launch(device);
  c.latency32 = measure_latency(device, Precision::F32);
  c.latency64 = measure_latency(device, Precision::F64);
  c.special_latency32 = measure_special_latency(device, Precision::F32);
  c.special_latency64 = measure_special_latency(device, Precision::F64);
  std::ostringstream text;
  text.precision(17);
  for (const double value : {c.copy, c.f32, c.f64, c.special32, c.special64, c.launch, c.latency32,
                             c.latency64, c.special_latency32, c.special_latency64})
    text << value << ' ';
  text << c.caches.size();
  for (const CacheRate& cache : c.caches) text << ' ' << cache.bytes << ' ' << cache.rate;
  DiskCache::standard().store(key_of(device.info(), kAllCeilings), text.str());
  return c;
}

Ceilings known_ceilings(Device& device) {
  const auto text = DiskCache::standard().load(key_of(device.info(), kAllCeilings));
  if (!text) return measure_ceilings(device);
  Ceilings c;
  std::istringstream in(*text);
  std::size_t sizes = 0;
  in >> c.copy >> c.f32 >> c.f64 >> c.special32 >> c.special64 >> c.launch >> c.latency32 >>
      c.latency64 >> c.special_latency32 >> c.special_latency64 >> sizes;
  for (CacheRate cache; c.caches.size() < sizes && in >> cache.bytes >> cache.rate;)
    c.caches.push_back(cache);
  if (in && c.caches.size() == sizes) return c;
  return measure_ceilings(device);
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
