#include "runtime/device/self_test.hpp"

#include <array>
#include <cmath>
#include <vector>

namespace vphi::runtime {
namespace {

constexpr int kBlocks = 24, kTestThreads = 64, kPerThread = 5;
constexpr int kSites = kBlocks * kTestThreads * kPerThread;

// Each thread owns kPerThread sites, a block adds its threads in local memory by halves, and the
// block that comes last adds the blocks in their order.
constexpr const char* kCuda = R"(extern "C" __global__ void vphi_self_test(
    const float* x, float* y, double* scalars, double* partials, unsigned* counter) {
  extern __shared__ double shared_sums[];
  const unsigned lane = threadIdx.x;
  double sum = 0;
  for (int k = 0; k < 5; ++k) {
    const unsigned i = (blockIdx.x * 5 + k) * 64 + lane;
    y[i] = (float)scalars[0] * x[i] + y[i];
    sum += y[i];
  }
  shared_sums[lane] = sum;
  __syncthreads();
  for (unsigned half = 32; half > 0; half >>= 1) {
    if (lane < half) shared_sums[lane] += shared_sums[lane + half];
    __syncthreads();
  }
  if (lane != 0) return;
  partials[blockIdx.x] = shared_sums[0];
  __threadfence();
  if (atomicAdd(counter, 1u) != gridDim.x - 1) return;
  __threadfence();
  double total = 0;
  for (unsigned b = 0; b < gridDim.x; ++b) total += ((volatile double*)partials)[b];
  scalars[1] = total;
  scalars[2] += 1;
  *counter = 0;
}
)";

constexpr const char* kOpenCl = R"(#pragma OPENCL EXTENSION cl_khr_fp64 : enable
__kernel void vphi_self_test(__global const float* x, __global float* y,
                             __global double* scalars, __global volatile double* partials,
                             __global volatile uint* counter, __local double* local_sums) {
  const uint lane = get_local_id(0);
  double sum = 0;
  for (int k = 0; k < 5; ++k) {
    const uint i = (get_group_id(0) * 5 + k) * 64 + lane;
    y[i] = (float)scalars[0] * x[i] + y[i];
    sum += y[i];
  }
  local_sums[lane] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint half_size = 32; half_size > 0; half_size >>= 1) {
    if (lane < half_size) local_sums[lane] += local_sums[lane + half_size];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (lane != 0) return;
  partials[get_group_id(0)] = local_sums[0];
  mem_fence(CLK_GLOBAL_MEM_FENCE);
  if (atomic_inc(counter) != get_num_groups(0) - 1) return;
  mem_fence(CLK_GLOBAL_MEM_FENCE);
  double total = 0;
  for (uint b = 0; b < get_num_groups(0); ++b) total += partials[b];
  scalars[1] = total;
  scalars[2] += 1;
  *counter = 0;
}
)";

constexpr const char* kNative = R"(#include <cmath>
extern "C" void vphi_self_test(void* const* arguments, long task) {
  const float* x = static_cast<const float*>(arguments[0]);
  float* y = static_cast<float*>(arguments[1]);
  const double* scalars = static_cast<const double*>(arguments[2]);
  double* partials = static_cast<double*>(arguments[3]);
  const float a = static_cast<float>(scalars[0]);
  double sum = 0;
  for (long i = task * 320; i < (task + 1) * 320; ++i) {
    y[i] = a * x[i] + y[i];
    sum += y[i] + 0 * std::exp(-x[i]);  // a function of libm must be found, too
  }
  partials[task] = sum;
}

extern "C" void vphi_self_test_finish(void* const* arguments) {
  double* scalars = static_cast<double*>(arguments[2]);
  const double* partials = static_cast<const double*>(arguments[3]);
  double total = 0;
  for (int task = 0; task < 24; ++task) total += partials[task];
  scalars[1] = total;
  scalars[2] += 1;
}
)";

struct Failure {
  std::string text;
};

void require(bool condition, const std::string& text) {
  if (!condition) throw Failure{text};
}

/// Buffers of the test, freed at the end of the scope.
class TestBuffers {
 public:
  explicit TestBuffers(Device& device) : device_(device) {}
  ~TestBuffers() {
    for (BufferHandle buffer : made_) device_.free(buffer);
  }
  TestBuffers(const TestBuffers&) = delete;
  TestBuffers& operator=(const TestBuffers&) = delete;
  BufferHandle make(std::size_t bytes) {
    made_.push_back(device_.allocate(bytes));
    device_.zero(made_.back());
    return made_.back();
  }

 private:
  Device& device_;
  std::vector<BufferHandle> made_;
};

void run(Device& device, SelfTestResult& result) {
  const std::vector<program::Kernel> kernels{self_test_kernel(device.info().target)};
  const KernelHandle kernel = device.compile(kernels).at(0);
  result.kernel = device.report(kernel);

  std::vector<float> x(kSites), y(kSites);
  for (int i = 0; i < kSites; ++i) {
    x[std::size_t(i)] = float(i % 97);
    y[std::size_t(i)] = float(i % 13) - 6;
  }
  const std::array<double, 3> scalars{0.5, -1, 0};
  TestBuffers buffers(device);
  const std::vector<BufferHandle> arguments{
      buffers.make(sizeof(float) * kSites), buffers.make(sizeof(float) * kSites),
      buffers.make(sizeof scalars), buffers.make(sizeof(double) * kBlocks), buffers.make(4)};

  // Two halves, so that offsets count.
  const auto bytes_x = std::as_bytes(std::span(x));
  device.upload(arguments[0], 0, bytes_x.first(bytes_x.size() / 2));
  device.upload(arguments[0], bytes_x.size() / 2, bytes_x.subspan(bytes_x.size() / 2));
  device.upload(arguments[1], 0, std::as_bytes(std::span(y)));
  device.upload(arguments[2], 0, std::as_bytes(std::span(scalars)));

  const RecordingHandle twice = device.record([&] {
    device.launch(kernel, arguments);
    device.launch(kernel, arguments);
  });
  const int begin = device.mark();
  device.launch(kernel, arguments);
  device.replay(twice);
  const int end = device.mark();

  std::vector<float> got(kSites);
  std::array<double, 3> scalars_got{};
  device.download(std::as_writable_bytes(std::span(got)), arguments[1], 0);
  device.download(std::as_writable_bytes(std::span(scalars_got)), arguments[2], 0);
  double expected_sum = 0;
  for (int i = 0; i < kSites; ++i) {
    const auto at = std::size_t(i);
    const float expected = y[at] + 1.5f * x[at];  // exact: small multiples of 1/2
    expected_sum += expected;
    require(got[at] == expected, "site " + std::to_string(i) + " holds " + std::to_string(got[at]) +
                                     " instead of " + std::to_string(expected));
  }
  require(scalars_got[2] == 3,
          "three launches were asked for, " + std::to_string(scalars_got[2]) + " were finished");
  require(scalars_got[1] == expected_sum, "the sum over all sites is " +
                                              std::to_string(scalars_got[1]) + " instead of " +
                                              std::to_string(expected_sum));
  const double seconds = device.seconds_between(begin, end);
  require(std::isfinite(seconds) && seconds >= 0 && seconds < 60, "the timer is wrong");
}

}  // namespace

program::Kernel self_test_kernel(program::Target target) {
  using Kind = program::Argument::Kind;
  program::Kernel kernel;
  kernel.name = "self-test";
  kernel.entry = "vphi_self_test";
  kernel.arguments = {{Kind::Current, 0},
                      {Kind::Current, 1},
                      {Kind::Scalars, 0},
                      {Kind::Partials, 0},
                      {Kind::Counter, 0}};
  kernel.partials = kBlocks;
  kernel.grid = {kBlocks, 1, 1};
  switch (target) {
    case program::Target::Native:
      kernel.source = kNative;
      kernel.finish = "vphi_self_test_finish";
      break;
    case program::Target::OpenCL:
    case program::Target::Cuda:
      kernel.source = target == program::Target::Cuda ? kCuda : kOpenCl;
      kernel.block = {kTestThreads, 1, 1};
      kernel.shared_bytes = kTestThreads * sizeof(double);
      break;
    case program::Target::Hip:
      throw DeviceError(kNoHip);
  }
  return kernel;
}

SelfTestResult self_test(Device& device) {
  SelfTestResult result;
  try {
    run(device, result);
    result.ok = true;
    result.message = "ok";
  } catch (const Failure& failure) {
    result.message = "The self-test kernel ran with a wrong result: " + failure.text + ".";
  } catch (const DeviceError& error) {
    result.message = error.what();
    result.log = error.log;
  } catch (const std::exception& error) {
    result.message = std::string("The self-test ended with: ") + error.what();
  }
  return result;
}

}  // namespace vphi::runtime
