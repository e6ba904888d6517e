// vphi doctor: what this machine can run, and how to get what is missing.
#include <fmt/format.h>

#include "runtime/device/cache.hpp"
#include "runtime/device/ceilings.hpp"
#include "runtime/device/cuda.hpp"
#include "runtime/device/native.hpp"
#include "runtime/device/opencl.hpp"
#include "runtime/device/self_test.hpp"
#include "runtime/fft/fft.hpp"
#include "runtime/io/results.hpp"
#include "tools/model.hpp"
#include "tools/verbs.hpp"

namespace vphi::tools {
namespace {

using runtime::DeviceInfo;

std::string gigabytes(std::size_t bytes) {
  return fmt::format("{:.1f} GB", static_cast<double>(bytes) / 1e9);
}

void advise(const std::string& line) { fmt::print("      {}\n", line); }

/// True where the self-test passed.
bool test_device(const DeviceInfo& info) {
  fmt::print("  {:<10} {}, {} of {} free, {} compute units{}\n", info.id, info.name,
             gigabytes(info.memory_free), gigabytes(info.memory_total), info.compute_units,
             info.f64 ? "" : ", no f64");
  try {
    const auto device = runtime::open_device(info.id);
    const auto result = runtime::self_test(*device);
    const auto copy = runtime::known_copy_bandwidth(info);
    if (result.ok)
      fmt::print("             self-test ok, kernel compiled in {:.0f} ms{}{}\n",
                 1e3 * result.kernel.compile_seconds,
                 result.kernel.from_cache ? " (from the cache)" : "",
                 copy ? fmt::format(", copy {:.0f} GB/s", *copy / 1e9) : "");
    else
      fmt::print("             self-test FAILED: {}\n{}{}", result.message, result.log,
                 result.log.empty() ? "" : "\n");
    return result.ok;
  } catch (const runtime::DeviceError& error) {
    fmt::print("             cannot be opened: {}\n", error.what());
    return false;
  }
}

}  // namespace

int doctor(const Words& words) {
  CommandLine line("doctor",
                   "Lists what this machine can run, tests it, and says what is missing.");
  if (!line.parse(words)) return kOk;
  fmt::print("vphi {}\n\nDevices\n", VPHI_VERSION);
  bool any = false;
  for (const DeviceInfo& info : runtime::list_devices()) any = test_device(info) || any;

  std::string why;
  if (runtime::list_cuda(&why).empty()) {
    fmt::print("  no CUDA device: {}\n", why);
    if (why.find("apt-get") == std::string::npos)
      advise("an NVIDIA GPU needs its driver, and NVRTC: apt-get install nvidia-cuda-toolkit");
  }
  if (runtime::list_opencl(&why).empty()) {
    fmt::print("  no OpenCL device: {}\n", why);
    advise(
        "apt-get install ocl-icd-libopencl1 pocl-opencl-icd (on processors; GPUs bring their own)");
  }

  fmt::print("\nCompiler for the processor\n  {}\n", runtime::native_compiler_description());
  if (runtime::native_compiler_description().find("in process") == std::string::npos) {
    fmt::print("  the in-process compiler is absent: models then start more slowly\n");
    advise("apt-get install llvm-19-dev libclang-19-dev libclang-cpp19-dev clang-19 libzstd-dev");
    advise("(or version 16 where 19 is not there), then build again");
  }

  const auto cache = runtime::DiskCache::standard();
  const auto [entries, bytes] = cache.contents();
  fmt::print("\nCode cache\n  {}: {} entries, {:.1f} MB{}\n",
             cache.folder().empty() ? "none" : cache.folder().string(), entries,
             static_cast<double>(bytes) / 1e6,
             cache.writable() ? "" : "; cannot be written, so kernels are compiled at every start");

  fmt::print("\nLibraries of this build\n");
  if (io::have_hdf5()) {
    fmt::print("  HDF5: result files\n");
  } else {
    fmt::print("  no HDF5: series go to CSV files, arrays are not written\n");
    advise("apt-get install libhdf5-dev, then build again");
  }
  fmt::print("  Fourier transforms: {}\n", fft::engine_name());
  if (std::string(fft::engine_name()) != "FFTW")
    advise("FFTW is faster: apt-get install libfftw3-dev, then build again");

  const auto models = shipped_models();
  fmt::print("\nShipped models: {}\n", models.size());
  if (models.empty()) advise("the folder models/ is not beside the command; set VPHI_MODELS");
  if (!any) {
    fmt::print("\nNo device works.\n");
    return kDeviceError;
  }
  return kOk;
}

}  // namespace vphi::tools
