#include "runtime/run/ranks/peer_kernel.hpp"

namespace vphi::runtime {

namespace {

constexpr unsigned kPeerThreads = 512;

// Loads of another device's memory are volatile: they must not come from a cache of this one.
constexpr const char* kPeerSource = R"(typedef unsigned int u32;
typedef unsigned long long u64;
struct piece { u64 from, to; u32 units, unit; u64 keep, flip; };

__device__ __forceinline__ void tell(u64 counts, int place, u32 exchange) {
  asm volatile("fence.acq_rel.sys;\n\tst.release.sys.global.u32 [%0], %1;"
               :: "l"(counts + 4 * place), "r"(exchange) : "memory");
}

__device__ __forceinline__ u64 nanoseconds() {
  u64 now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  return now;
}

// Until another rank has told that it has come to this exchange.
__device__ void wait_for(u32* counts, int place, u32 exchange) {
  const u64 begin = nanoseconds();
  volatile u32* failed = counts + 2;
  for (;;) {
    u32 told;
    asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(told) : "l"(counts + place) : "memory");
    if ((int)(told - exchange) >= 0 || *failed != 0) return;
    if (nanoseconds() - begin > 20000000000ull) *failed = 1;
  }
}

__device__ __forceinline__ void copy_16(const piece& p) {
  u64 low[4], high[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const u32 i = threadIdx.x + k * THREADS;
    if (i < p.units)
      asm volatile("ld.volatile.global.v2.u64 {%0, %1}, [%2];"
                   : "=l"(low[k]), "=l"(high[k]) : "l"(p.from + 16ull * i));
  }
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const u32 i = threadIdx.x + k * THREADS;
    if (i < p.units)
      *(ulonglong2*)(p.to + 16ull * i) =
          make_ulonglong2((low[k] & p.keep) ^ p.flip, (high[k] & p.keep) ^ p.flip);
  }
}

template <class T>
__device__ __forceinline__ void copy(const piece& p) {
  for (u32 i = threadIdx.x; i < p.units; i += THREADS)
    ((T*)p.to)[i] = (((const volatile T*)p.from)[i] & (T)p.keep) ^ (T)p.flip;
}

extern "C" __global__ void __launch_bounds__(THREADS) vphi_peers(const u64* table, u32* counts) {
  const int pieces = (int)table[0], ranks = (int)table[1], rank = (int)table[2];
  const u64* counts_of = table + 4;
  const piece* list = (const piece*)(counts_of + ranks);
  const int t = (int)threadIdx.x;
  const bool other = t < ranks && t != rank;
  const u32 exchange = *(volatile u32*)counts + 1;
  if (other) {
    if (blockIdx.x == 0) tell(counts_of[t], 4 + rank, exchange);
    wait_for(counts, 4 + t, exchange);
  }
  __syncthreads();
  for (int k = (int)blockIdx.x; k < pieces; k += (int)gridDim.x) {
    const piece p = list[k];
    if (p.unit == 16) copy_16(p);
    else if (p.unit == 8) copy<u64>(p);
    else copy<u32>(p);
  }
  __syncthreads();
  __shared__ bool last;
  if (t == 0) {
    __threadfence_system();
    last = atomicAdd(counts + 1, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  if (other) {
    tell(counts_of[t], 4 + ranks + rank, exchange);
    wait_for(counts, 4 + ranks + t, exchange);
  }
  __syncthreads();
  if (t == 0) counts[1] = 0, counts[0] = exchange;
}
)";

}  // namespace

std::size_t peer_counts(int ranks) { return 4 + 2 * static_cast<std::size_t>(ranks); }

program::Kernel peer_kernel(unsigned blocks) {
  program::Kernel kernel;
  kernel.name = "exchange between devices";
  kernel.entry = "vphi_peers";
  kernel.source = "#define THREADS " + std::to_string(kPeerThreads) + "\n" + kPeerSource;
  kernel.arguments.resize(2);
  kernel.grid = {blocks, 1, 1};
  kernel.block = {kPeerThreads, 1, 1};
  return kernel;
}

}  // namespace vphi::runtime
