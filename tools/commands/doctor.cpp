// vphi doctor: what this machine can run, and how to get what is missing.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "runtime/comm/mpi.hpp"
#include "runtime/comm/nccl.hpp"
#include "runtime/device/cache.hpp"
#include "runtime/device/ceilings.hpp"
#include "runtime/device/cuda/cuda.hpp"
#include "runtime/device/native/native.hpp"
#include "runtime/device/opencl/opencl.hpp"
#include "runtime/device/self_test.hpp"
#include "runtime/fft/device_fft.hpp"
#include "runtime/io/results.hpp"
#include "tools/model.hpp"
#include "tools/verbs.hpp"

namespace vphi::tools {
namespace {

using Json = nlohmann::ordered_json;
using runtime::DeviceInfo;

std::string gigabytes(std::size_t bytes) {
  return fmt::format("{:.1f} GB", static_cast<double>(bytes) / 1e9);
}

/// Prints each finding at once, or collects all for one JSON object.
class Findings {
 public:
  explicit Findings(bool json) : json_(json) {}

  template <class... T>
  void say(fmt::format_string<T...> text, T&&... values) const {
    if (!json_) fmt::print(text, std::forward<T>(values)...);
  }
  void advise(const std::string& line) {
    say("      {}\n", line);
    all["advice"].push_back(line);
  }
  void print() const {
    if (json_) fmt::print("{}\n", all.dump(1, ' ', false, Json::error_handler_t::replace));
  }

  Json all = {{"version", VPHI_VERSION}, {"devices", Json::array()}, {"advice", Json::array()}};

 private:
  bool json_;
};

/// True where the self-test passed.
bool test_device(const DeviceInfo& info, Findings& found) {
  found.say("  {:<10} {}, {} of {} free, {} compute units{}\n", info.id, info.name,
            gigabytes(info.memory_free), gigabytes(info.memory_total), info.compute_units,
            info.f64 ? "" : ", no f64");
  Json device = {{"id", info.id},
                 {"name", info.name},
                 {"driver", info.driver},
                 {"memory_free", info.memory_free},
                 {"memory_total", info.memory_total},
                 {"compute_units", info.compute_units},
                 {"f64", info.f64},
                 {"processor", info.is_cpu || info.target == program::Target::Native}};
  bool ok = false;
  std::string message;
  try {
    const auto opened = runtime::open_device(info.id);
    const auto result = runtime::self_test(*opened);
    const auto copy = runtime::known_copy_bandwidth(info);
    ok = result.ok;
    message = result.message;
    if (ok) {
      found.say("             self-test ok, kernel compiled in {:.0f} ms{}{}\n",
                1e3 * result.kernel.compile_seconds,
                result.kernel.from_cache ? " (from the cache)" : "",
                copy ? fmt::format(", copy {:.0f} GB/s", *copy / 1e9) : "");
      device["compile_seconds"] = result.kernel.compile_seconds;
      device["from_cache"] = result.kernel.from_cache;
      if (copy) device["copy_bytes_per_s"] = *copy;
    } else {
      found.say("             self-test FAILED: {}\n{}{}", result.message, result.log,
                result.log.empty() ? "" : "\n");
    }
  } catch (const runtime::DeviceError& error) {
    message = error.what();
    found.say("             cannot be opened: {}\n", message);
  }
  device["ok"] = ok;
  if (!ok) device["message"] = message;
  found.all["devices"].push_back(std::move(device));
  return ok;
}

void missing_devices(Findings& found) {
  std::string why;
  if (runtime::list_cuda(&why).empty()) {
    found.say("  no CUDA device: {}\n", why);
    found.all["no_cuda"] = why;
    if (why.find("apt-get") == std::string::npos)
      found.advise(
          "an NVIDIA GPU needs its driver, and NVRTC: apt-get install nvidia-cuda-toolkit");
  }
  why.clear();
  if (runtime::list_opencl(&why).empty()) {
    found.say("  no OpenCL device: {}\n", why);
    found.all["no_opencl"] = why;
    found.advise(
        "apt-get install ocl-icd-libopencl1 pocl-opencl-icd (on processors; GPUs bring their own)");
  }
}

void compiler(Findings& found) {
  const std::string description = runtime::native_compiler_description();
  found.say("\nCompiler for the processor\n  {}\n", description);
  found.all["native_compiler"] = description;
  if (description.find("in process") != std::string::npos) return;
  found.say("  the in-process compiler is absent: models then start more slowly\n");
  found.advise(
      "apt-get install llvm-19-dev libclang-19-dev libclang-cpp19-dev clang-19 libzstd-dev");
  found.advise("(or version 16 where 19 is not there), then build again");
}

void code_cache(Findings& found) {
  const auto cache = runtime::DiskCache::standard();
  const auto [entries, bytes] = cache.contents();
  const bool writable = cache.writable();
  found.say("\nCode cache\n  {}: {} entries, {:.1f} of at most {:.0f} MB (VPHI_CACHE_MB){}\n",
            cache.folder().empty() ? "none" : cache.folder().string(), entries,
            static_cast<double>(bytes) / 1e6,
            static_cast<double>(runtime::DiskCache::limit()) / 1e6,
            writable ? "" : "; cannot be written, so kernels are compiled at every start");
  found.all["cache"] = {{"path", cache.folder().string()},
                        {"entries", entries},
                        {"bytes", bytes},
                        {"limit", runtime::DiskCache::limit()},
                        {"writable", writable}};
}

void libraries(Findings& found) {
  found.say("\nLibraries\n");
  found.all["libraries"] = {{"hdf5", io::have_hdf5()},
                            {"fft_host", fft::engine_name()},
                            {"fft_cuda", fft::cufft_description()},
                            {"fft_opencl", fft::vkfft_description()},
                            {"mpi", comm::mpi_description()},
                            {"nccl", comm::nccl_description()}};
  if (io::have_hdf5()) {
    found.say("  HDF5: result files\n");
  } else {
    found.say("  no HDF5: series go to CSV files, arrays are not written\n");
    found.advise("apt-get install libhdf5-dev, then build again");
  }
  found.say("  Fourier transforms: {} on the host\n", fft::engine_name());
  if (std::string(fft::engine_name()) != "FFTW")
    found.advise("FFTW is faster: apt-get install libfftw3-dev, then build again");
  if (!runtime::list_cuda().empty()) found.say("  on CUDA devices: {}\n", fft::cufft_description());
  if (!runtime::list_opencl().empty())
    found.say("  on OpenCL devices: {}\n", fft::vkfft_description());
  found.say("  ranks by MPI: {}\n", comm::mpi_description());
  if (!runtime::list_cuda().empty())
    found.say("  planes between GPUs of several processes: {}\n", comm::nccl_description());
}

}  // namespace

int doctor(const Words& words) {
  bool json = false;
  CommandLine line("doctor",
                   "Lists what this machine can run, tests it, and says what is missing.");
  line.flag("--json", json, "the same as one JSON object on standard output");
  if (!line.parse(words)) return kOk;
  Findings found(json);
  found.say("vphi {}\n\nDevices\n", VPHI_VERSION);
  bool any = false;
  for (const DeviceInfo& info : runtime::list_devices()) any = test_device(info, found) || any;
  missing_devices(found);
  compiler(found);
  code_cache(found);
  libraries(found);
  const auto models = shipped_models();
  found.say("\nShipped models: {}\n", models.size());
  found.all["models"] = models.size();
  if (models.empty()) found.advise("the folder models/ is not beside the command; set VPHI_MODELS");
  if (!any) found.say("\nNo device works.\n");
  found.print();
  return any ? kOk : kDeviceError;
}

}  // namespace vphi::tools
