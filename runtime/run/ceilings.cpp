#include "runtime/run/ceilings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "runtime/device/cache.hpp"

namespace vphi::runtime {

using program::Argument;
using program::Kernel;
using program::Precision;
using program::Target;

namespace {

constexpr int kRepeats = 8;

std::string key_of(const DeviceInfo& info) {
  return "copy_" + CacheKey()
                       .add("what", "copy bandwidth 1")
                       .add("device", info.name)
                       .add("driver", info.driver)
                       .add("units", std::to_string(info.compute_units))
                       .text();
}

/// b = a on `bytes` of 16-byte words, each read and written once.
Kernel copy_kernel(Target target, std::size_t bytes, int units) {
  Kernel k;
  k.name = "copy";
  k.entry = "vphi_copy";
  k.arguments = {{Argument::Kind::Current, 0}, {Argument::Kind::Current, 1}};
  const std::size_t words = bytes / 16, per_thread = 4, block = 256;
  const std::size_t blocks = words / (per_thread * block);
  switch (target) {
    case Target::Native: {
      // Pieces of one thread each; the compiler makes a block copy of the loop.
      const std::size_t tasks = static_cast<std::size_t>(std::max(1, units)) * 4;
      const std::size_t piece = bytes / 8 / tasks;
      k.grid = {static_cast<std::uint32_t>(tasks), 1, 1};
      k.source = fmt::format(
          "extern \"C\" void vphi_copy(void* const* arguments, long task) {{\n"
          "  const double* a = (const double*)arguments[0] + task*{0}L;\n"
          "  double* b = (double*)arguments[1] + task*{0}L;\n"
          "  __builtin_memcpy(b, a, {0}L*8);\n}}\n",
          piece);
      break;
    }
    case Target::OpenCL:
      k.grid = {static_cast<std::uint32_t>(blocks), 1, 1};
      k.block = {block, 1, 1};
      k.source = fmt::format(
          "__kernel void vphi_copy(__global const float4* restrict a, __global float4* restrict b) "
          "{{\n"
          "  const size_t first = get_group_id(0)*(size_t){} + get_local_id(0);\n"
          "  for (int i = 0; i < {}; ++i) b[first + i*{}] = a[first + i*{}];\n}}\n",
          per_thread * block, per_thread, block, block);
      break;
    case Target::Cuda:
      k.grid = {static_cast<std::uint32_t>(blocks), 1, 1};
      k.block = {block, 1, 1};
      k.source = fmt::format(
          "extern \"C\" __global__ void vphi_copy(const float4* __restrict__ a, float4* "
          "__restrict__ b) "
          "{{\n"
          "  const unsigned long long first = blockIdx.x*{}ull + threadIdx.x;\n"
          "  float4 v[{}];\n"
          "#pragma unroll\n  for (int i = 0; i < {}; ++i) v[i] = a[first + i*{}];\n"
          "#pragma unroll\n  for (int i = 0; i < {}; ++i) b[first + i*{}] = v[i];\n}}\n",
          per_thread * block, per_thread, per_thread, block, per_thread, block);
      break;
  }
  return k;
}

/// Chains of multiply-adds, enough of them side by side to hide their latency.
Kernel flops_kernel(Target target, Precision precision, int units, double& flops) {
  constexpr long rounds = 4096;
  const char* real = precision == Precision::F32 ? "float" : "double";
  Kernel k;
  k.name = "flops";
  k.entry = "vphi_flops";
  k.arguments = {{Argument::Kind::Current, 0}};
  if (target == Target::Native) {
    const long lanes = precision == Precision::F32 ? 128 : 64, tasks = std::max(1, units);
    k.grid = {static_cast<std::uint32_t>(tasks), 1, 1};
    k.source = fmt::format(
        "extern \"C\" void vphi_flops(void* const* arguments, long task) {{\n"
        "  {0}* out = ({0}*)arguments[0] + task*{1};\n  {0} x[{1}];\n"
        "  for (int l = 0; l < {1}; ++l) x[l] = ({0})l;\n"
        "  for (long i = 0; i < {2}L; ++i)\n"
        "    for (int l = 0; l < {1}; ++l) x[l] = __builtin_fma{3}(x[l], ({0})0.999, ({0})0.001);\n"
        "  for (int l = 0; l < {1}; ++l) out[l] = x[l];\n}}\n",
        real, lanes, rounds * 16, precision == Precision::F32 ? "f" : "");
    flops = 2.0 * static_cast<double>(tasks * lanes * rounds * 16);
    return k;
  }
  const long blocks = std::max(1, units) * 16L, block = 256, chains = 8;
  k.grid = {static_cast<std::uint32_t>(blocks), 1, 1};
  k.block = {static_cast<std::uint32_t>(block), 1, 1};
  const bool cuda = target == Target::Cuda;
  k.source = fmt::format(
      "{0} vphi_flops({1} {2}* out) {{\n  {2} x[{3}];\n  const {2} start = ({2}){4};\n"
      "  for (int l = 0; l < {3}; ++l) x[l] = start + l;\n"
      "  for (int i = 0; i < {5}; ++i) {{\n#pragma unroll\n"
      "    for (int l = 0; l < {3}; ++l) x[l] = fma(x[l], ({2})0.999, ({2})0.001);\n  }}\n"
      "  {2} sum = 0;\n  for (int l = 0; l < {3}; ++l) sum += x[l];\n  out[{6}] = sum;\n}}\n",
      cuda ? "extern \"C\" __global__ void"
           : std::string(precision == Precision::F64
                             ? "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
                             : "") +
                 "__kernel void",
      cuda ? "" : "__global", real, chains, cuda ? "threadIdx.x" : "get_local_id(0)", rounds,
      cuda ? "blockIdx.x*256u + threadIdx.x" : "get_global_id(0)");
  flops = 2.0 * static_cast<double>(blocks * block * chains * rounds);
  return k;
}

/// Seconds of the fastest of some launches, the first left out.
double fastest(Device& device, KernelHandle kernel, std::span<const BufferHandle> arguments) {
  double best = std::numeric_limits<double>::infinity();
  device.launch(kernel, arguments);
  for (int i = 0; i < kRepeats; ++i) {
    const int start = device.mark();
    device.launch(kernel, arguments);
    const int end = device.mark();
    device.synchronise();
    best = std::min(best, device.seconds_between(start, end));
  }
  return best;
}

}  // namespace

double measure_copy_bandwidth(Device& device) {
  const DeviceInfo info = device.info();
  // Far beyond the caches, and a small part of the memory.
  std::size_t bytes = info.is_cpu ? std::size_t{96} << 20 : std::size_t{1} << 30;
  while (bytes > (1 << 20) && info.memory_free > 0 && bytes > info.memory_free / 8) bytes /= 2;
  const Kernel kernel = copy_kernel(info.target, bytes, info.compute_units);
  const auto handle = device.compile(std::span(&kernel, 1)).front();
  const BufferHandle a = device.allocate(bytes), b = device.allocate(bytes);
  device.zero(a), device.zero(b);
  const BufferHandle arguments[] = {a, b};
  const double seconds = fastest(device, handle, arguments);
  device.free(a), device.free(b);
  return 2 * static_cast<double>(bytes) / seconds;
}

double measure_flops(Device& device, Precision precision) {
  const DeviceInfo info = device.info();
  if (precision == Precision::F64 && !info.f64) return 0;
  double flops = 0;
  const Kernel kernel = flops_kernel(info.target, precision, info.compute_units, flops);
  const auto handle = device.compile(std::span(&kernel, 1)).front();
  const std::size_t numbers =
      std::size_t{kernel.grid[0]} * std::max<std::size_t>(kernel.block[0], 128);
  const BufferHandle out = device.allocate(8 * numbers);
  const double seconds = fastest(device, handle, std::span(&out, 1));
  device.free(out);
  return flops / seconds;
}

std::optional<double> known_copy_bandwidth(const DeviceInfo& info) {
  const auto text = DiskCache::standard().load(key_of(info));
  double value = 0;
  if (!text) return std::nullopt;
  const auto [at, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc() || !(value > 0)) return std::nullopt;
  return value;
}

double copy_bandwidth(Device& device) {
  const DeviceInfo info = device.info();
  if (const auto known = known_copy_bandwidth(info)) return *known;
  const double measured = measure_copy_bandwidth(device);
  DiskCache::standard().store(key_of(info), fmt::format("{}", measured));
  return measured;
}

}  // namespace vphi::runtime
