#include "runtime/device/cuda/round_kernels.hpp"

#include <algorithm>
#include <array>

#include "runtime/device/cuda/nvrtc.hpp"

namespace vphi::runtime {
namespace {

constexpr unsigned kThreads = 128;

constexpr const char* kText = R"(
extern "C" __device__ void cudaGraphSetConditional(unsigned long long condition, unsigned value);

// Another round, where an instance is not done and there were fewer than `most`.
extern "C" __global__ void vphi_again(unsigned long long condition, unsigned* count,
                                      const double* scalars, long long instances,
                                      long long distance, long long done, unsigned most,
                                      unsigned of_body) {
  int runs = 0;
  for (long long i = threadIdx.x; i < instances; i += blockDim.x)
    runs |= scalars[i*distance + done] == 0;
  runs = __syncthreads_or(runs);
  if (threadIdx.x != 0) return;
  const unsigned rounds = *count + of_body;
  const bool more = runs && rounds < most;
  *count = more ? rounds : 0;
  cudaGraphSetConditional(condition, more);
}

// The first instance that is not done, unless there is a note, and the most iterations.
extern "C" __global__ void vphi_note(double* notes, const double* scalars, long long instances,
                                     long long distance, long long done, long long iterations,
                                     long long residual, int number, int failure) {
  __shared__ unsigned first, most;
  if (threadIdx.x == 0) first = ~0u, most = 0;
  __syncthreads();
  for (long long i = threadIdx.x; i < instances; i += blockDim.x) {
    if (scalars[i*distance + done] != 1) atomicMin(&first, (unsigned)i);
    atomicMax(&most, (unsigned)scalars[i*distance + iterations]);
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  notes[failure + number] += most;
  if (first == ~0u || notes[0] != 0) return;
  const double* of = scalars + first*distance;
  notes[0] = number + 1, notes[1] = first;
  notes[2] = of[done], notes[3] = of[iterations], notes[4] = of[residual];
}
)";

}  // namespace

RoundKernels::RoundKernels(const cu::Api& api, int major, int minor) : api_(api) {
  std::string architecture = nvrtc_architecture(major, minor);
  if (architecture.starts_with("sm_")) architecture.replace(0, 3, "compute_");
  std::string text;
  try {
    text = nvrtc_compile(kText, architecture);
  } catch (const DeviceError&) {
    return;  // the host repeats rounds
  }
  if (api_.ModuleLoadData(&module_, text.c_str()) != cu::kSuccess) {
    module_ = nullptr;
    return;
  }
  api_.ModuleGetFunction(&again_, module_, "vphi_again");
  api_.ModuleGetFunction(&note_, module_, "vphi_note");
}

RoundKernels::~RoundKernels() {
  if (module_ != nullptr) api_.ModuleUnload(module_);
}

cu::Result RoundKernels::again(cu::GraphCondition condition, cu::Pointer count, cu::Pointer scalars,
                               const Rounds& rounds, unsigned of_body, cu::Stream stream) const {
  constexpr std::int64_t kMost = 0x7fffffff;
  std::int64_t instances = rounds.instances, distance = rounds.distance, done = rounds.done;
  auto most = static_cast<unsigned>(std::clamp<std::int64_t>(rounds.most, 1, kMost));
  std::array<void*, 8> parameters{&condition, &count, &scalars, &instances,
                                  &distance,  &done,  &most,    &of_body};
  return api_.LaunchKernel(again_, 1, 1, 1, kThreads, 1, 1, 0, stream, parameters.data(), nullptr);
}

cu::Result RoundKernels::note(cu::Pointer notes, cu::Pointer scalars, const Rounds& rounds,
                              cu::Stream stream) const {
  std::int64_t instances = rounds.instances, distance = rounds.distance, done = rounds.done,
               iterations = rounds.iterations, residual = rounds.residual;
  int number = rounds.number, failure = static_cast<int>(Rounds::kFailure);
  std::array<void*, 9> parameters{&notes,      &scalars,  &instances, &distance, &done,
                                  &iterations, &residual, &number,    &failure};
  return api_.LaunchKernel(note_, 1, 1, 1, kThreads, 1, 1, 0, stream, parameters.data(), nullptr);
}

}  // namespace vphi::runtime
