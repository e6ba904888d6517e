// cuFFT, opened at run time. Names, values and signatures: NVIDIA, cuFFT library reference,
// versions 11 (CUDA 12) and 12 (CUDA 13).
#include <algorithm>
#include <string_view>
#include <vector>

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
constexpr int kR2C = 0x2a, kC2R = 0x2c, kD2Z = 0x6a, kZ2D = 0x6c, kZ2Z = 0x69;
constexpr int kForward = -1, kInverse = 1;

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
  Result (*ExecZ2Z)(Handle, void*, void*, int) = nullptr;
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
         library.bind(api.ExecD2Z, "cufftExecD2Z") && library.bind(api.ExecZ2D, "cufftExecZ2D") &&
         library.bind(api.ExecZ2Z, "cufftExecZ2Z");
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

/// What a plan transforms, in place.
struct Shape {
  std::vector<long long> n;  ///< slowest axis first
  long long count = 1;       ///< of them
  /// Entries of a line lie so far apart, and lines side by side; 0: each transform is contiguous,
  /// with rows of 2*(N_x/2 + 1) numbers.
  long long stride = 0;
};

Shape whole(const Box& box) {
  Shape shape;
  for (const std::size_t axis : {2, 1, 0})
    if (box.n[axis] > 1 || axis == 0) shape.n.push_back(box.n[axis]);
  return shape;
}

/// One direction's plan; destroyed at the end.
class Plan {
 public:
  Plan(const Api& api, Shape shape, int type, void* stream) : api_(api) {
    check(api_.Create(&handle_), "make a plan");
    const int rank = static_cast<int>(shape.n.size());
    long long* embed = shape.stride > 0 ? shape.n.data() : nullptr;
    const long long stride = std::max(1LL, shape.stride), next = shape.stride > 0 ? 1 : 0;
    Result code = api_.SetAutoAllocation(handle_, 0);
    if (code == kSuccess)
      code = api_.MakePlanMany64(handle_, rank, shape.n.data(), embed, stride, next, embed, stride,
                                 next, type, shape.count, &work_);
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

/// Work memory of plans, which use it one after the other.
class Work {
 public:
  Work(const Api& api, runtime::Device& device, std::initializer_list<const Plan*> plans)
      : device_(device) {
    std::size_t bytes = 1;
    for (const Plan* plan : plans) bytes = std::max(bytes, plan->work());
    memory_ = device.allocate(bytes);
    for (const Plan* plan : plans)
      check(api.SetWorkArea(plan->handle(), device.raw_memory(memory_)), "take its work memory");
  }
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;
  ~Work() {
    try {
      device_.free(memory_);  // waits for what is queued
    } catch (const DeviceError&) {
      // A device that failed has reported it before.
    }
  }

 private:
  runtime::Device& device_;
  BufferHandle memory_;
};

class CuTransform : public DeviceTransform {
 public:
  CuTransform(runtime::Device& device, const Shape& shape, Precision precision)
      : api_(cufft().api),
        device_(device),
        f64_(precision == Precision::F64),
        to_modes_(api_, shape, f64_ ? kD2Z : kR2C, device.raw_queue().queue),
        to_sites_(api_, shape, f64_ ? kZ2D : kC2R, device.raw_queue().queue),
        work_(api_, device, {&to_modes_, &to_sites_}) {}

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
  Plan to_modes_, to_sites_;
  Work work_;
};

/// Complex lines in f64, side by side.
class CuColumns : public DeviceTransform {
 public:
  CuColumns(runtime::Device& device, std::int64_t length, std::int64_t count)
      : api_(cufft().api),
        device_(device),
        plan_(api_, {.n = {length}, .count = count, .stride = count}, kZ2Z,
              device.raw_queue().queue),
        work_(api_, device, {&plan_}) {}

  void forward(BufferHandle columns) override { transform(columns, kForward); }
  void inverse(BufferHandle columns) override { transform(columns, kInverse); }
  std::string name() const override { return cufft().version; }

 private:
  void transform(BufferHandle columns, int direction) {
    device_.raw_queue();
    void* at = device_.raw_memory(columns);
    check(api_.ExecZ2Z(plan_.handle(), at, at, direction), "transform");
  }

  const Api& api_;
  runtime::Device& device_;
  Plan plan_;
  Work work_;
};

}  // namespace

std::unique_ptr<DeviceTransform> make_cufft(runtime::Device& device, const Box& box,
                                            Precision precision, std::string* why) {
  if (cufft().version.empty()) {
    if (why) *why = cufft().why;
    return nullptr;
  }
  try {
    return std::make_unique<CuTransform>(device, whole(box), precision);
  } catch (const DeviceError& error) {  // too little memory, or a box that it cannot transform
    if (why) *why = error.what();
    return nullptr;
  }
}

DeviceHalves cufft_halves(runtime::Device& device, const Box& box, std::int64_t planes,
                          std::int64_t columns, std::string* why) {
  if (cufft().version.empty()) {
    if (why) *why = cufft().why;
    return {};
  }
  try {
    Shape plane = whole(box);
    plane.n.erase(plane.n.begin());
    plane.count = planes;
    return {std::make_unique<CuTransform>(device, plane, Precision::F64),
            std::make_unique<CuColumns>(device, planes_of(box), columns)};
  } catch (const DeviceError& error) {
    if (why) *why = error.what();
    return {};
  }
}

std::string cufft_description() { return cufft().version.empty() ? cufft().why : cufft().version; }

}  // namespace vphi::fft
