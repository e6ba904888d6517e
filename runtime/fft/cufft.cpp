// cuFFT, opened at run time. Names, values and signatures: NVIDIA, cuFFT library reference,
// versions 11 (CUDA 12) and 12 (CUDA 13).
#include <string_view>

#include "runtime/device/cuda/nvrtc.hpp"
#include "runtime/device/library.hpp"
#include "runtime/fft/device_libraries.hpp"

namespace vphi::fft {
namespace {

using program::Precision;
using runtime::BufferHandle;
using runtime::DeviceError;
using runtime::Library;

using Result = int;
using Handle = int;  ///< cufftHandle
constexpr Result kSuccess = 0;
constexpr int kR2C = 0x2a, kC2R = 0x2c, kD2Z = 0x6a, kZ2D = 0x6c;

struct Api {
  Result (*GetVersion)(int*) = nullptr;
  Result (*Create)(Handle*) = nullptr;
  Result (*Destroy)(Handle) = nullptr;
  Result (*SetStream)(Handle, void*) = nullptr;
  Result (*SetAutoAllocation)(Handle, int) = nullptr;
  Result (*SetWorkArea)(Handle, void*) = nullptr;
  Result (*MakePlanMany64)(Handle, int, long long*, long long*, long long, long long, long long*,
                           long long, long long, int, long long, std::size_t*) = nullptr;
  Result (*ExecR2C)(Handle, void*, void*) = nullptr;
  Result (*ExecC2R)(Handle, void*, void*) = nullptr;
  Result (*ExecD2Z)(Handle, void*, void*) = nullptr;
  Result (*ExecZ2D)(Handle, void*, void*) = nullptr;
};

struct Loaded {
  Api api;
  std::string version, why;
};

bool bind_all(const Library& library, Api& api) {
  return library.bind(api.GetVersion, "cufftGetVersion") &&
         library.bind(api.Create, "cufftCreate") && library.bind(api.Destroy, "cufftDestroy") &&
         library.bind(api.SetStream, "cufftSetStream") &&
         library.bind(api.SetAutoAllocation, "cufftSetAutoAllocation") &&
         library.bind(api.SetWorkArea, "cufftSetWorkArea") &&
         library.bind(api.MakePlanMany64, "cufftMakePlanMany64") &&
         library.bind(api.ExecR2C, "cufftExecR2C") && library.bind(api.ExecC2R, "cufftExecC2R") &&
         library.bind(api.ExecD2Z, "cufftExecD2Z") && library.bind(api.ExecZ2D, "cufftExecZ2D");
}

Loaded load() {
  Loaded result;
  for (const std::string& file :
       runtime::cuda_library_files({"libcufft.so.12", "libcufft.so.11", "libcufft.so.10"})) {
    const auto library = Library::open({file}, Library::Close::Never, &result.why);
    if (!library || !bind_all(*library, result.api)) continue;
    int version = 0;  // 12 002 for 12.0.2
    if (result.api.GetVersion(&version) != kSuccess) continue;
    result.version =
        "cuFFT " + std::to_string(version / 1000) + "." + std::to_string(version / 100 % 10);
    return result;
  }
  result.why =
      "cuFFT is missing (package libcufft-13-0 or libcufft-12-X of NVIDIA's repository, "
      "or set CUDA_HOME)";
  return result;
}

const Loaded& cufft() {
  static const Loaded loaded = load();
  return loaded;
}

void check(Result code, std::string_view what) {
  if (code != kSuccess)
    throw DeviceError("cuFFT failed to " + std::string(what) + " (result " + std::to_string(code) +
                      ").");
}

/// One direction's plan; destroyed at the end.
class Plan {
 public:
  Plan(const Api& api, const Box& box, int type, void* stream) : api_(api) {
    check(api_.Create(&handle_), "make a plan");
    long long n[3];
    int rank = 0;
    for (int axis : {2, 1, 0})
      if (box.n[axis] > 1 || axis == 0) n[rank++] = box.n[axis];
    // No strides given: in place, with rows of 2*(N_x/2 + 1) numbers.
    Result code = api_.SetAutoAllocation(handle_, 0);
    if (code == kSuccess)
      code = api_.MakePlanMany64(handle_, rank, n, nullptr, 1, 0, nullptr, 1, 0, type, 1, &work_);
    if (code == kSuccess) code = api_.SetStream(handle_, stream);
    if (code == kSuccess) return;
    api_.Destroy(handle_);
    check(code, "plan a transform");
  }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;
  ~Plan() { api_.Destroy(handle_); }

  std::size_t work() const { return work_; }
  Handle handle() const { return handle_; }

 private:
  const Api& api_;
  Handle handle_ = 0;
  std::size_t work_ = 0;
};

class CuTransform : public DeviceTransform {
 public:
  CuTransform(runtime::Device& device, const Box& box, Precision precision)
      : api_(cufft().api),
        device_(device),
        f64_(precision == Precision::F64),
        stream_(device.raw_queue().queue),
        to_modes_(api_, box, f64_ ? kD2Z : kR2C, stream_),
        to_sites_(api_, box, f64_ ? kZ2D : kC2R, stream_),
        work_(device.allocate(std::max(to_modes_.work(), to_sites_.work()))) {
    void* memory = device_.raw_memory(work_);
    check(api_.SetWorkArea(to_modes_.handle(), memory), "take its work memory");
    check(api_.SetWorkArea(to_sites_.handle(), memory), "take its work memory");
  }
  ~CuTransform() override {
    try {
      device_.free(work_);  // waits for what is queued
    } catch (const DeviceError&) {
      // A device that failed has reported it before.
    }
  }

  void forward(BufferHandle box) override {
    device_.raw_queue();  // current for this thread
    void* at = device_.raw_memory(box);
    check((f64_ ? api_.ExecD2Z : api_.ExecR2C)(to_modes_.handle(), at, at), "transform");
  }
  void inverse(BufferHandle box) override {
    device_.raw_queue();
    void* at = device_.raw_memory(box);
    check((f64_ ? api_.ExecZ2D : api_.ExecC2R)(to_sites_.handle(), at, at), "transform");
  }
  std::string name() const override { return cufft().version; }

 private:
  const Api& api_;
  runtime::Device& device_;
  bool f64_;
  void* stream_;
  Plan to_modes_, to_sites_;
  BufferHandle work_;
};

}  // namespace

std::unique_ptr<DeviceTransform> make_cufft(runtime::Device& device, const Box& box,
                                            Precision precision, std::string* why) {
  if (cufft().version.empty()) {
    if (why) *why = cufft().why;
    return nullptr;
  }
  try {
    return std::make_unique<CuTransform>(device, box, precision);
  } catch (const DeviceError& error) {  // too little memory, or a box that it cannot transform
    if (why) *why = error.what();
    return nullptr;
  }
}

std::string cufft_description() { return cufft().version.empty() ? cufft().why : cufft().version; }

}  // namespace vphi::fft
