#include "runtime/run/exchange_kernels.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "runtime/random/philox.hpp"
#include "runtime/run/exchange.hpp"

namespace vphi::runtime {

namespace {

constexpr unsigned kThreads = 256;
constexpr std::size_t kChunk = 16;  ///< words of a thread, at most, before its block takes another
                                    ///< part

/// Places in the table, in words of 64 bits.
enum Word : std::size_t {
  kStep,
  kEvery,
  kKeyLow,
  kKeyHigh,
  kInstances,
  kValues,
  kStride,
  kOfInstance,
  kOfSlot,
  kAbove,
  kBelow,
  kTried,
  kMade,
  kReplica,
  kStop,
  kOfDecisions,
  kWords
};

constexpr const char* kSource = R"(#if __CUDA_ARCH__ >= 900
#define VPHI_AWAIT asm volatile("griddepcontrol.wait;" ::: "memory")
#else
#define VPHI_AWAIT
#endif
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

// A uniform number in (0, 1) of the first two words of Philox4x32-10.
__device__ double uniform_of(u32 a, u32 b, u32 c, u32 d, u32 k0, u32 k1) {
  for (int round = 0; round < 10; ++round) {
    const u64 p = (u64)0xD2511F53u * a, q = (u64)0xCD9E8D57u * c;
    const u32 x = (u32)(q >> 32) ^ b ^ k0, z = (u32)(p >> 32) ^ d ^ k1;
    b = (u32)q, d = (u32)p, a = x, c = z;
    k0 += 0x9E3779B9u, k1 += 0xBB67AE85u;
  }
  const u64 bits = ((u64)b << 32 | a) >> 12;
  return ((double)(i64)bits + 0.5)*0x1p-52;
}

// Which instances take the configuration of the next value, and what their scalars say of it.
extern "C" __global__ void __launch_bounds__(THREADS)
vphi_exchange(i64* table, double* scalars, u32* flags) {
  VPHI_AWAIT;
  const i64 step = table[0], every = table[1], values = table[5], stride = table[6];
  const i64 odd = step / every % 2;
  for (i64 i = threadIdx.x; i < table[4]; i += THREADS) {
    flags[i] = 0;
    const i64 place = i / stride % values;
    if (place % 2 == odd || place == values - 1) continue;
    double* own = scalars + i*table[7];
    double* next = own + stride*table[7];
    const i64 s = table[8];
    if (table[14] >= 0 && (own[table[14]*s] != 0 || next[table[14]*s] != 0)) continue;
    own[table[11]*s] += 1;
    const double change = own[table[9]*s] + next[table[10]*s];
    const double u = uniform_of((u32)step, (u32)((u64)step >> 32), (u32)table[15], (u32)i,
                                (u32)table[2], (u32)table[3]);
    if (!(u < exp(-change))) continue;
    own[table[12]*s] += 1;
    const double replica = own[table[13]*s];
    own[table[13]*s] = next[table[13]*s];
    next[table[13]*s] = replica;
    flags[i] = 1;
  }
  __syncthreads();
  if (threadIdx.x == 0) table[0] = step + every;
}

template <class T>
__device__ void exchange_part(T* one, T* other, u64 words, u64 part) {
  const u64 begin = part*(THREADS*CHUNK);
#pragma unroll 4
  for (u32 k = 0; k < CHUNK; ++k) {
    const u64 w = begin + k*THREADS + threadIdx.x;
    if (w >= words) return;
    const T a = one[w], b = other[w];
    one[w] = b;
    other[w] = a;
  }
}

// The numbers of an instance and of the one with the next value change places.
extern "C" __global__ void __launch_bounds__(THREADS)
vphi_move(const i64* table, const u32* flags, const u64* length, u32* memory) {
  VPHI_AWAIT;
  const u64 words = length[0], unit = words % 4 == 0 ? 4 : 1, units = words / unit;
  const u64 parts = (units + THREADS*CHUNK - 1)/(THREADS*CHUNK);
  for (u64 k = blockIdx.x; k < parts*(u64)table[4]; k += gridDim.x) {
    const u64 i = k / parts, part = k % parts;
    if (!flags[i]) continue;
    u32 *one = memory + i*words, *other = one + (u64)table[6]*words;
    if (unit == 4)
      exchange_part((uint4*)one, (uint4*)other, units, part);
    else
      exchange_part(one, other, units, part);
  }
}
)";

program::Kernel kernel_of(const char* name, const char* entry, std::size_t arguments,
                          std::uint32_t blocks) {
  program::Kernel kernel;
  kernel.name = name;
  kernel.entry = entry;
  kernel.source = "#define THREADS " + std::to_string(kThreads) + "u\n#define CHUNK " +
                  std::to_string(kChunk) + "u\n" + kSource;
  kernel.arguments.resize(arguments);
  kernel.grid = {blocks, 1, 1};
  kernel.block = {kThreads, 1, 1};
  return kernel;
}

}  // namespace

ExchangeKernels::ExchangeKernels(const program::Program& program, Device& device, ScalarOrder order)
    : program_(program), device_(device) {
  constexpr std::uint32_t kBlocksEach = 8;  // of a processor
  const auto blocks = static_cast<std::uint32_t>(std::max(1, device.info().compute_units));
  const std::array<program::Kernel, 2> kernels{
      kernel_of("choice of exchanges", "vphi_exchange", 3, 1),
      kernel_of("exchange of configurations", "vphi_move", 4, kBlocksEach * blocks)};
  const auto handles = device_.compile(kernels);
  decide_ = handles[0], move_ = handles[1];
  const program::Exchange& e = program.exchange;
  const random::Key key = random::key_of(program.seed);
  std::array<std::int64_t, kWords> table{};
  table[kEvery] = e.every;
  table[kKeyLow] = key[0], table[kKeyHigh] = key[1];
  table[kInstances] = program.instances;
  table[kValues] = exchange_values(program), table[kStride] = exchange_stride(program);
  table[kOfInstance] = order.of_instance, table[kOfSlot] = order.of_slot;
  table[kAbove] = e.above_slot, table[kBelow] = e.below_slot;
  table[kTried] = e.tried_slot, table[kMade] = e.made_slot;
  table[kReplica] = e.replica_slot, table[kStop] = program.stop_slot;
  table[kOfDecisions] = kExchangeStream;
  table_ = device_.allocate(sizeof table);
  flags_ = device_.allocate(sizeof(std::uint32_t) * static_cast<std::size_t>(program.instances));
  device_.upload(table_, 0, std::as_bytes(std::span(table)));
}

ExchangeKernels::~ExchangeKernels() {
  device_.free(table_);
  device_.free(flags_);
  for (const auto& [bytes, handle] : lengths_) device_.free(handle);
}

BufferHandle ExchangeKernels::length(std::size_t bytes) {
  const auto [place, fresh] = lengths_.try_emplace(bytes);
  if (fresh) {
    const std::uint64_t words = bytes / sizeof(std::uint32_t);
    place->second = device_.allocate(sizeof words);
    device_.upload(place->second, 0, std::as_bytes(std::span(&words, 1)));
  }
  return place->second;
}

void ExchangeKernels::set_step(std::int64_t step) {
  if (next_ != step)
    device_.upload(table_, sizeof(std::int64_t) * kStep, std::as_bytes(std::span(&step, 1)));
  next_ = step + program_.exchange.every;
}

void ExchangeKernels::queue(std::int64_t step, BufferHandle scalars, std::span<const Moved> moved) {
  set_step(step);
  device_.launch(decide_, std::array{table_, scalars, flags_});
  for (const Moved& one : moved)
    device_.launch(move_, std::array{table_, flags_, length(one.bytes), one.memory});
}

}  // namespace vphi::runtime
