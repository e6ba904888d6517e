#include "runtime/fft/device_fft.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include "runtime/fft/device_libraries.hpp"

namespace vphi::fft {
namespace {

using program::Precision;
using runtime::BufferHandle;

/// A transform by the host: the data are downloaded, transformed in f64 and uploaded.
template <class Real>
class HostTransform : public DeviceTransform {
 public:
  HostTransform(runtime::Device& device, const Box& box, int threads)
      : device_(device), box_(box), threads_(threads) {}

  void forward(BufferHandle at) override {
    auto numbers = fetch(at);
    const auto row = static_cast<std::size_t>(2 * box_.half());
    std::vector<double> real;
    real.reserve(static_cast<std::size_t>(box_.sites()));
    for (std::size_t r = 0; r < numbers.size(); r += row)
      for (std::int64_t x = 0; x < box_.n[0]; ++x)
        real.push_back(numbers[r + static_cast<std::size_t>(x)]);
    std::vector<Complex> modes(static_cast<std::size_t>(box_.modes()));
    fft::forward(box_, real.data(), modes.data(), threads_);
    for (std::size_t i = 0; i < modes.size(); ++i) {
      numbers[2 * i] = static_cast<Real>(modes[i].real());
      numbers[2 * i + 1] = static_cast<Real>(modes[i].imag());
    }
    device_.upload(at, 0, std::as_bytes(std::span(numbers)));
  }

  void inverse(BufferHandle at) override {
    auto numbers = fetch(at);
    std::vector<Complex> modes(static_cast<std::size_t>(box_.modes()));
    for (std::size_t i = 0; i < modes.size(); ++i) modes[i] = {numbers[2 * i], numbers[2 * i + 1]};
    std::vector<double> real(static_cast<std::size_t>(box_.sites()));
    fft::inverse(box_, modes.data(), real.data(), threads_);
    const auto row = static_cast<std::size_t>(2 * box_.half());
    auto from = real.begin();
    for (std::size_t r = 0; r < numbers.size(); r += row)
      for (std::int64_t x = 0; x < box_.n[0]; ++x)
        numbers[r + static_cast<std::size_t>(x)] = static_cast<Real>(*from++);
    device_.upload(at, 0, std::as_bytes(std::span(numbers)));
  }

  std::string name() const override { return std::string(engine_name()) + " on the host"; }

 private:
  std::vector<Real> fetch(BufferHandle at) {
    std::vector<Real> numbers(static_cast<std::size_t>(2 * box_.modes()));
    device_.download(std::as_writable_bytes(std::span(numbers)), at, 0);
    return numbers;
  }

  runtime::Device& device_;
  Box box_;
  int threads_;
};

}  // namespace

std::size_t padded_bytes(const Box& box, Precision precision) {
  return static_cast<std::size_t>(box.modes()) * (precision == Precision::F64 ? 16 : 8);
}

std::unique_ptr<DeviceTransform> make_device_transform(runtime::Device& device, const Box& box,
                                                       Precision precision, std::string* why) {
  switch (device.info().target) {
    case program::Target::Cuda:
      return make_cufft(device, box, precision, why);
    case program::Target::OpenCL:
      return make_vkfft(device, box, precision, why);
    case program::Target::Native:
    case program::Target::Hip:
      break;
  }
  if (why) *why = "the processor's fields are transformed by the host itself";
  return nullptr;
}

std::unique_ptr<DeviceTransform> make_host_transform(runtime::Device& device, const Box& box,
                                                     Precision precision, int threads) {
  if (precision == Precision::F64)
    return std::make_unique<HostTransform<double>>(device, box, threads);
  return std::make_unique<HostTransform<float>>(device, box, threads);
}

}  // namespace vphi::fft
