#include "runtime/run/ranks/peer_kernel.hpp"

namespace vphi::runtime {

namespace {

constexpr unsigned kPeerThreads = 512;

// An inbox has two halves. A rank fills the half of an exchange for another one only after that one
// has begun the exchange before, and so has ended the one before that, which had the same half.
constexpr const char* kCopySource = R"(#if __CUDA_ARCH__ >= 900
#define VPHI_AWAIT asm volatile("griddepcontrol.wait;" ::: "memory")
#else
#define VPHI_AWAIT
#endif
typedef unsigned int u32;
typedef unsigned long long u64;
struct head { u64 sent, received, ranks, rank, half; };
struct piece { u64 from, to, flag; u32 units, unit; u64 keep, flip; };

// Loads are volatile: what other devices have written must not come from a cache.
struct vectors { u64 low[4], high[4]; };
__device__ __forceinline__ void load(vectors& v, const piece& p, u64 from) {
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const u32 i = threadIdx.x + k * THREADS;
    if (i < p.units)
      asm volatile("ld.volatile.global.v2.u64 {%0, %1}, [%2];"
                   : "=l"(v.low[k]), "=l"(v.high[k]) : "l"(from + 16ull * i));
  }
}

__device__ __forceinline__ void store(const vectors& v, const piece& p, u64 to) {
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const u32 i = threadIdx.x + k * THREADS;
    if (i < p.units)
      *(ulonglong2*)(to + 16ull * i) =
          make_ulonglong2((v.low[k] & p.keep) ^ p.flip, (v.high[k] & p.keep) ^ p.flip);
  }
}

__device__ __forceinline__ void copy_16(const piece& p, u64 from, u64 to) {
  vectors v;
  load(v, p, from);
  store(v, p, to);
}

template <class T>
__device__ __forceinline__ void copy_of(const piece& p, u64 from, u64 to) {
  for (u32 i = threadIdx.x; i < p.units; i += THREADS)
    ((T*)to)[i] = (((const volatile T*)from)[i] & (T)p.keep) ^ (T)p.flip;
}

__device__ __forceinline__ void copy(const piece& p, u64 from, u64 to) {
  if (p.unit == 16) copy_16(p, from, to);
  else if (p.unit == 8) copy_of<u64>(p, from, to);
  else copy_of<u32>(p, from, to);
}
)";

constexpr const char* kPeerSource = R"(
// A fence and a relaxed store are a release; st.release after it would fence once more.
__device__ __forceinline__ void tell(u64 flag, u32 exchange) {
  asm volatile("fence.acq_rel.sys;\n\tst.relaxed.sys.global.u32 [%0], %1;"
               :: "l"(flag), "r"(exchange) : "memory");
}

__device__ __forceinline__ u64 nanoseconds() {
  u64 now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  return now;
}

// Until another rank has told that it has come to this exchange. It may be at the next one.
__device__ void wait_for(u64 flag, u32 exchange, u32* counts) {
  const u64 begin = nanoseconds();
  volatile u32* failed = counts + 2;
  for (;;) {
    u32 told;
    asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(told) : "l"(flag) : "memory");
    if (told - exchange <= 1u || *failed != 0) return;
    if (nanoseconds() - begin > 20000000000ull) *failed = 1;
  }
}

// The table is read before the launch before this one has ended, and a block has loaded its first
// piece when it hears the number of the exchange. Who has begun is told after what is sent: others
// wait for it at their end.
extern "C" __global__ void __launch_bounds__(THREADS) vphi_peers(const u64* table, u32* counts) {
  const u32 t = threadIdx.x, first = blockIdx.x;
  const head h = *(const head*)table;
  const u64* counts_of = table + sizeof(head) / 8;
  const piece* send = (const piece*)(counts_of + h.ranks);
  const piece* receive = send + h.sent;
  piece p;
  if (first < h.sent) p = send[first];
  VPHI_AWAIT;
  const bool other = first == 0 && t < h.ranks && t != h.rank;
  __shared__ u32 begun;
  u64 before = 0;
  if (t == 0) before = atomicAdd((u64*)counts, 1ull);
  vectors v;
  const bool loaded = first < h.sent && p.unit == 16;
  if (loaded) load(v, p, p.from);
  if (t == 0) {
    begun = (u32)(before >> 32) + 1;
    if ((u32)before == gridDim.x - 1)  // all blocks have read it
      atomicAdd((u64*)counts, (1ull << 32) - gridDim.x);
  }
  __syncthreads();
  const u32 exchange = begun;
  const u64 half = exchange % 2 * h.half;
  if (loaded) store(v, p, p.to + half);
  else if (first < h.sent) copy(p, p.from, p.to + half);
  for (u32 k = first; k < h.sent;) {
    __syncthreads();
    if (t == 0) tell(p.flag, exchange);
    k += gridDim.x;
    if (k >= h.sent) break;
    p = send[k];
    copy(p, p.from, p.to + half);
  }
  if (other) tell(counts_of[t] + 4 * (4 + h.rank), exchange);
  for (u32 k = first; k < h.received; k += gridDim.x) {
    p = receive[k];
    if (p.flag != 0 && t == 0) wait_for(p.flag, exchange, counts);
    __syncthreads();
    copy(p, p.flag != 0 ? p.from + half : p.from, p.to);
  }
  if (other) wait_for((u64)(counts + 4 + t), exchange, counts);
}
)";

// One block after the other takes a piece.
constexpr const char* kPackSource = R"(
extern "C" __global__ void __launch_bounds__(THREADS) vphi_pack(const u64* table) {
  VPHI_AWAIT;
  const head h = *(const head*)table;
  const piece* send = (const piece*)(table + sizeof(head) / 8);
  for (u32 k = blockIdx.x; k < h.sent; k += gridDim.x) copy(send[k], send[k].from, send[k].to);
}
)";

constexpr const char* kUnpackSource = R"(
extern "C" __global__ void __launch_bounds__(THREADS) vphi_unpack(const u64* table) {
  VPHI_AWAIT;
  const head h = *(const head*)table;
  const piece* receive = (const piece*)(table + sizeof(head) / 8) + h.sent;
  for (u32 k = blockIdx.x; k < h.received; k += gridDim.x)
    copy(receive[k], receive[k].from, receive[k].to);
}
)";

}  // namespace

std::size_t peer_counts(int ranks) { return 4 + static_cast<std::size_t>(ranks); }

namespace {

program::Kernel kernel_of(const char* name, const char* entry, const char* source,
                          std::size_t arguments, unsigned blocks) {
  program::Kernel kernel;
  kernel.name = name;
  kernel.entry = entry;
  kernel.source = "#define THREADS " + std::to_string(kPeerThreads) + "\n" + kCopySource + source;
  kernel.arguments.resize(arguments);
  kernel.grid = {blocks, 1, 1};
  kernel.block = {kPeerThreads, 1, 1};
  return kernel;
}

}  // namespace

program::Kernel peer_kernel(unsigned blocks) {
  return kernel_of("exchange between devices", "vphi_peers", kPeerSource, 2, blocks);
}

program::Kernel pack_kernel(unsigned blocks) {
  return kernel_of("packing of planes", "vphi_pack", kPackSource, 1, blocks);
}

program::Kernel unpack_kernel(unsigned blocks) {
  return kernel_of("unpacking of planes", "vphi_unpack", kUnpackSource, 1, blocks);
}

}  // namespace vphi::runtime
