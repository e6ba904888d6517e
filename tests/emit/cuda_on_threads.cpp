// Runs CUDA source on the CPU: a fibre a CUDA thread, groups one after the other, or where they
// wait for each other (program::Kernel::together) each in a thread of the system. Barriers, warp
// exchanges and shared memory mean what they mean on the device; asynchronous copies happen at
// once, into memory that is filled with NaN before each group. A fibre goes on until it meets a
// barrier, upwards through the threads in one group and downwards in the next, so that a barrier
// that is missing shows as a value that is not there yet, whichever way it was to go.
#include <dlfcn.h>

#include "tests/emit/fixture.hpp"

namespace vphi::emit_test {

State through_buffers(const Case& c, const program::Kernel& kernel, const State& start,
                      const std::function<void(std::vector<std::vector<std::byte>>&)>& go);

namespace {

constexpr const char* kShim = R"shim(
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <cmath>
#include <thread>
#include <vector>
struct Dim { unsigned x, y, z; };
struct alignas(16) float4 { float x, y, z, w; };
struct alignas(8) float2 { float x, y; };
struct alignas(16) double2 { double x, y; };
static thread_local Dim threadIdx, blockIdx, gridDim;
struct Fibre {
  ucontext_t context;
  char* stack;
  bool done;
};
constexpr unsigned kMost = 1024, kStack = 256 * 1024;
static thread_local Fibre shim_fibres[kMost];
static thread_local ucontext_t shim_home;
static thread_local unsigned shim_all, shim_step;  // threads; to the next one: 1 upwards, all but one downwards
static void (*shim_body)();
// The next fibre that has not ended; home where there is none.
static void shim_next() {
  const unsigned all = shim_all, me = threadIdx.x;
  unsigned other = me;
  for (unsigned i = 0; i < all; ++i) {
    other = (other + shim_step) % all;
    if (!shim_fibres[other].done) break;
  }
  if (other == me && !shim_fibres[me].done) return;
  threadIdx.x = other;
  swapcontext(&shim_fibres[me].context, shim_fibres[other].done ? &shim_home : &shim_fibres[other].context);
  threadIdx.x = me;
}
static void shim_enter() {
  shim_body();
  shim_fibres[threadIdx.x].done = true;
  shim_next();
}
struct Barrier {
  unsigned size = 0, arrived = 0, generation = 0;
  void arrive_and_wait() {
    const unsigned mine = generation;
    if (++arrived == size) {
      arrived = 0;
      ++generation;
      return;
    }
    while (generation == mine) shim_next();
  }
};
static thread_local Barrier shim_barrier;
static thread_local Barrier shim_warps[kMost / 32];
static thread_local double shim_exchange[kMost];
alignas(16) static thread_local unsigned char shim_staging[1 << 20];
#define __global__
#define __device__
#define __forceinline__ inline
#define __shared__ static thread_local
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
static void __syncthreads() { shim_barrier.arrive_and_wait(); }
static void __syncwarp() { shim_warps[threadIdx.x / 32].arrive_and_wait(); }
static void __threadfence() { __atomic_thread_fence(5); }
static unsigned atomicAdd(unsigned* at, unsigned n) { return __atomic_fetch_add(at, n, 5); }
static double __ldcg(const double* p) { return *p; }
template <class V> static void __stcs(V* to, V value) { *to = value; }
#define __logf(x) logf(x)
#define __cosf(x) cosf(x)
#define __sinf(x) sinf(x)
static float __fadd_rn(float a, float b) { return a + b; }
static double __dadd_rn(double a, double b) { return a + b; }
static int min(int a, int b) { return a < b ? a : b; }
static int max(int a, int b) { return a < b ? b : a; }
// The float below, as sums that are rounded down.
static float shim_down(double a) {
  const float nearest = (float)a;
  return nearest > a ? nextafterf(nearest, -INFINITY) : nearest;
}
static int __float_as_int(float f) { int bits; memcpy(&bits, &f, 4); return bits; }
static int __double2loint(double d) { long long bits; memcpy(&bits, &d, 8); return (int)bits; }
static float __int_as_float(int bits) { float f; memcpy(&f, &bits, 4); return f; }
static long long __double_as_longlong(double d) { long long bits; memcpy(&bits, &d, 8); return bits; }
static double __longlong_as_double(long long bits) { double d; memcpy(&d, &bits, 8); return d; }
template <class T> static T shim_shuffle(T value, int delta, int width) {
  const unsigned me = threadIdx.x, lane = me % width;
  Barrier& warp = shim_warps[me / 32];
  warp.arrive_and_wait();
  shim_exchange[me] = value;
  warp.arrive_and_wait();
  const int from = (int)lane + delta;
  return from < 0 || from >= width ? value : (T)shim_exchange[me + delta];
}
template <class T> static T __shfl_up_sync(unsigned, T v, int d, int w) { return shim_shuffle(v, -d, w); }
template <class T> static T __shfl_down_sync(unsigned, T v, int d, int w) { return shim_shuffle(v, d, w); }
static void shim_start(Dim grid, unsigned threads, void (*body)()) {
  gridDim = grid;
  shim_body = body;
  shim_all = threads;
  shim_barrier = {threads};
  for (unsigned i = 0; i < (threads + 31) / 32; ++i)
    shim_warps[i] = {threads - 32 * i < 32 ? threads - 32 * i : 32};
  for (unsigned i = 0; i < threads; ++i)
    if (!shim_fibres[i].stack) shim_fibres[i].stack = (char*)malloc(kStack);
}
static void shim_group(Dim place, unsigned group, unsigned threads) {
  blockIdx = place;
  memset(shim_staging, 0xff, sizeof shim_staging);
  for (unsigned i = 0; i < threads; ++i) {
    Fibre& fibre = shim_fibres[i];
    fibre.done = false;
    getcontext(&fibre.context);
    fibre.context.uc_stack.ss_sp = fibre.stack;
    fibre.context.uc_stack.ss_size = kStack;
    fibre.context.uc_link = nullptr;
    makecontext(&fibre.context, shim_enter, 0);
  }
  const bool up = group % 2 == 0;
  shim_step = up ? 1 : threads - 1;
  threadIdx = {up ? 0 : threads - 1, 0, 0};
  swapcontext(&shim_home, &shim_fibres[threadIdx.x].context);
}
static void shim_run(unsigned gx, unsigned gy, unsigned gz, unsigned threads, void (*body)()) {
  shim_start({gx, gy, gz}, threads, body);
  unsigned group = 0;
  for (unsigned z = 0; z < gz; ++z)
    for (unsigned y = 0; y < gy; ++y)
      for (unsigned x = 0; x < gx; ++x, ++group) shim_group({x, y, z}, group, threads);
}
static void shim_run_together(unsigned gx, unsigned, unsigned, unsigned threads, void (*body)()) {
  std::vector<std::thread> groups;
  for (unsigned x = 0; x < gx; ++x)
    groups.emplace_back([=] {
      shim_start({gx, 1, 1}, threads, body);
      shim_group({x, 0, 0}, x, threads);
      for (unsigned i = 0; i < threads; ++i) free(shim_fibres[i].stack);
    });
  for (std::thread& group : groups) group.join();
}
)shim";

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

// Each `asm volatile(...)` statement that mentions `what` becomes `by`.
void replace_asm(std::string& text, const std::string& what, const std::string& by) {
  for (std::size_t at = 0; (at = text.find("asm volatile(", at)) != std::string::npos; ++at) {
    const std::size_t end = text.find(';', text.find("\"memory\"", at)) + 1;
    if (text.substr(at, end - at).find(what) != std::string::npos) text.replace(at, end - at, by);
  }
}

using Main = void (*)(void**);

}  // namespace

State run_cuda_on_threads(const Case& c, const program::Kernel& kernel, const State& start) {
  std::string text = kernel.source;
  replace_asm(text, "shared.global", "memcpy(to, from, sizeof *to);");
  replace_asm(text, "commit_group", "");
  replace_asm(text, "wait_group", "");
  replace_all(text, "asm volatile(\"\" : \"+l\"(kept));", "");
  replace_all(text, "asm(\"lg2.approx.ftz.f32 %0, %1;\" : \"=f\"(log) : \"f\"(a));",
              "log = log2f(a);");
  replace_all(text, "asm(\"sqrt.approx.ftz.f32 %0, %1;\" : \"=f\"(root) : \"f\"(a));",
              "root = sqrtf(a);");
  replace_all(text, "asm(\"mul.wide.u32 %0, %1, %2;\" : \"=l\"(product) : \"r\"(a), \"r\"(b));",
              "product = (unsigned long long)a * b;");
  replace_all(text, "asm(\"rsqrt.approx.ftz.f32 %0, %1;\" : \"=f\"(root) : \"f\"(a));",
              "root = 1.0f / sqrtf(a);");
  replace_all(text,
              "asm(\"div.approx.ftz.f32 %0, %1, %2;\" : \"=f\"(quotient) : \"f\"(a), \"f\"(b));",
              "quotient = a / b;");
  replace_all(text, "asm(\"rcp.approx.ftz.f32 %0, %1;\" : \"=f\"(reciprocal) : \"f\"(a));",
              "reciprocal = 1.0f / a;");
  // the seeds of the device have some 20 bits
  replace_all(text, "asm(\"rcp.approx.ftz.f64 %0, %1;\" : \"=d\"(seed) : \"d\"(a));",
              "seed = 1.0 / a * (1 + 1e-6);");
  replace_all(text, "asm(\"rsqrt.approx.ftz.f64 %0, %1;\" : \"=d\"(seed) : \"d\"(a));",
              "seed = 1.0 / sqrt(a) * (1 - 1e-6);");
  replace_all(text,
              "asm(\"add.rm.f32 %0, %1, %2;\" : \"=f\"(held) : \"f\"(a), \"f\"(12582912.0f));",
              "held = shim_down(a + 12582912.0);");
  replace_all(text,
              "asm(\"fma.rm.f32 %0, %1, %2, %3;\" : \"=f\"(held) : \"f\"(a), \"f\"(b), "
              "\"f\"(12582912.0f));",
              "held = shim_down((double)a * b + 12582912.0);");
  replace_all(text, "asm(\"cvt.rmi.s32.f64 %0, %1;\" : \"=r\"(place) : \"d\"(a));",
              "place = (int)fmin(fmax(floor(a), -2147483648.0), 2147483647.0);");
  replace_all(text, "extern __shared__ vphi_vector staging[];",
              "vphi_vector* staging = (vphi_vector*)shim_staging;");
  replace_all(text, "extern __shared__ double2 staged_blocks[];",
              "double2* staged_blocks = (double2*)shim_staging;");
  std::string call;
  for (std::size_t i = 0; i < kernel.arguments.size(); ++i)
    call += (i ? ", " : "") + std::string("Any{shim_arguments[") + std::to_string(i) + "]}";
  const auto number = [](std::uint32_t n) { return std::to_string(n) + "u"; };
  text = kShim + text +
         "\nstruct Any { void* p; template <class T> operator T*() const { return (T*)p; } };\n"
         "static void** shim_arguments;\nextern \"C\" void shim_main(void** arguments) {\n"
         "  shim_arguments = arguments;\n  shim_run" +
         (kernel.together ? "_together(" : "(") + number(kernel.grid[0]) + ", " +
         number(kernel.grid[1]) + ", " + number(kernel.grid[2]) + ", " + number(kernel.block[0]) +
         ", [] { " + kernel.entry + "(" + call + "); });\n}\n";
  // A second run of the kernel meets what the first has left in shared memory.
  void* library = shared_library("g++ -std=c++17 -O1 -w -pthread", text);
  const auto main = reinterpret_cast<Main>(dlsym(library, "shim_main"));
  return through_buffers(c, kernel, start, [&](auto& buffers) {
    std::vector<void*> pointers;
    for (auto& buffer : buffers) pointers.push_back(buffer.data());
    main(pointers.data());
  });
}

}  // namespace vphi::emit_test
