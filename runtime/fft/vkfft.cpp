// VkFFT behind the plug-in libvphi_vkfft.so (vkfft/plugin.hpp).
#include <filesystem>

#include "runtime/device/library.hpp"
#include "runtime/fft/device_libraries.hpp"
#include "runtime/fft/vkfft/plugin.hpp"

namespace vphi::fft {
namespace {

using program::Precision;
using runtime::BufferHandle;
using runtime::DeviceError;
using runtime::Library;

struct Api {
  int (*version)() = nullptr;
  int (*make)(void*, void*, const long*, int, void**) = nullptr;
  int (*run)(void*, void*, void*, int) = nullptr;
  void (*free)(void*) = nullptr;
};

struct Loaded {
  Api api;
  bool usable = false;
  std::string why =
      "libvphi_vkfft.so is not beside the program (it is built where VkFFT is found: "
      "apt-get install libvkfft-dev opencl-headers ocl-icd-opencl-dev)";
};

Loaded load() {
  Loaded result;
  for (const char* folder : {"/", "/../", "/lib/", "/../lib/"}) {
    const std::string file = runtime::program_folder() + folder + "libvphi_vkfft.so";
    std::error_code error;
    if (!std::filesystem::is_regular_file(file, error)) continue;
    std::string why;
    const auto library = Library::open({file}, Library::Close::Never, &why);
    Api& api = result.api;
    result.usable =
        library && library->bind(api.version, "vphi_vkfft_version") &&
        api.version() == VPHI_VKFFT_VERSION && library->bind(api.make, "vphi_vkfft_make") &&
        library->bind(api.run, "vphi_vkfft_run") && library->bind(api.free, "vphi_vkfft_free");
    if (result.usable) return result;
    result.why = library ? file + " is of another version" : why;
  }
  return result;
}

const Loaded& vkfft() {
  static const Loaded loaded = load();
  return loaded;
}

class VkTransform : public DeviceTransform {
 public:
  VkTransform(runtime::Device& device, void* plan) : device_(device), plan_(plan) {}
  VkTransform(const VkTransform&) = delete;
  VkTransform& operator=(const VkTransform&) = delete;
  ~VkTransform() override {
    try {
      device_.synchronise();
    } catch (const DeviceError&) {
      // A device that failed has reported it before.
    }
    vkfft().api.free(plan_);
  }

  void forward(BufferHandle box) override { run(box, 0); }
  void inverse(BufferHandle box) override { run(box, 1); }
  std::string name() const override { return "VkFFT"; }

 private:
  void run(BufferHandle box, int inverse) {
    const int code =
        vkfft().api.run(plan_, device_.raw_queue().queue, device_.raw_memory(box), inverse);
    if (code != 0)
      throw DeviceError("VkFFT failed to transform (result " + std::to_string(code) + ").");
  }

  runtime::Device& device_;
  void* plan_;
};

}  // namespace

std::unique_ptr<DeviceTransform> make_vkfft(runtime::Device& device, const Box& box,
                                            Precision precision, std::string* why) {
  if (!vkfft().usable) {
    if (why) *why = vkfft().why;
    return nullptr;
  }
  const auto raw = device.raw_queue();
  const long n[3] = {static_cast<long>(box.n[0]), static_cast<long>(box.n[1]),
                     static_cast<long>(box.n[2])};
  void* plan = nullptr;
  const int code =
      vkfft().api.make(raw.context, raw.device, n, precision == Precision::F64 ? 1 : 0, &plan);
  if (code != 0) {
    if (why) *why = "VkFFT does not take this box (result " + std::to_string(code) + ")";
    return nullptr;
  }
  return std::make_unique<VkTransform>(device, plan);
}

std::string vkfft_description() { return vkfft().usable ? "VkFFT" : vkfft().why; }

}  // namespace vphi::fft
