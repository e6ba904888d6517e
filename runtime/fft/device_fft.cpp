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
  /// Of so many planes of a box, without its columns, or with them.
  HostTransform(runtime::Device& device, const Box& box, std::int64_t planes, bool columns,
                int threads)
      : device_(device),
        box_(box),
        planes_(planes),
        columns_(columns),
        modes_(static_cast<std::size_t>(planes * columns_of(box))),
        threads_(threads) {}

  void forward(BufferHandle at) override {
    auto numbers = fetch(at);
    const auto row = static_cast<std::size_t>(2 * box_.half());
    std::vector<double> real;
    for (std::size_t r = 0; r < numbers.size(); r += row)
      for (std::int64_t x = 0; x < box_.n[0]; ++x)
        real.push_back(numbers[r + static_cast<std::size_t>(x)]);
    std::vector<Complex> modes(modes_);
    forward_planes(box_, planes_, real.data(), modes.data(), threads_);
    if (columns_) forward_columns(planes_, columns_of(box_), modes.data(), threads_);
    for (std::size_t i = 0; i < modes.size(); ++i) {
      numbers[2 * i] = static_cast<Real>(modes[i].real());
      numbers[2 * i + 1] = static_cast<Real>(modes[i].imag());
    }
    device_.upload(at, 0, std::as_bytes(std::span(numbers)));
  }

  void inverse(BufferHandle at) override {
    auto numbers = fetch(at);
    std::vector<Complex> modes(modes_);
    for (std::size_t i = 0; i < modes.size(); ++i) modes[i] = {numbers[2 * i], numbers[2 * i + 1]};
    if (columns_) inverse_columns(planes_, columns_of(box_), modes.data(), threads_);
    std::vector<double> real(static_cast<std::size_t>(planes_ * (box_.sites() / planes_of(box_))));
    inverse_planes(box_, planes_, modes.data(), real.data(), threads_);
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
    std::vector<Real> numbers(2 * modes_);
    device_.download(std::as_writable_bytes(std::span(numbers)), at, 0);
    return numbers;
  }

  runtime::Device& device_;
  Box box_;
  std::int64_t planes_;
  bool columns_;
  std::size_t modes_;
  int threads_;
};

/// Complex columns by the host.
class HostColumns : public DeviceTransform {
 public:
  HostColumns(runtime::Device& device, std::int64_t length, std::int64_t count, int threads)
      : device_(device), length_(length), count_(count), threads_(threads) {}

  void forward(BufferHandle at) override {
    in_memory(at, [&](Complex* modes) { forward_columns(length_, count_, modes, threads_); });
  }
  void inverse(BufferHandle at) override {
    in_memory(at, [&](Complex* modes) { inverse_columns(length_, count_, modes, threads_); });
  }
  std::string name() const override { return std::string(engine_name()) + " on the host"; }

 private:
  template <class Work>
  void in_memory(BufferHandle at, const Work& work) {
    std::vector<Complex> modes(static_cast<std::size_t>(length_ * count_));
    device_.download(std::as_writable_bytes(std::span(modes)), at, 0);
    work(modes.data());
    device_.upload(at, 0, std::as_bytes(std::span(modes)));
  }

  runtime::Device& device_;
  std::int64_t length_, count_;
  int threads_;
};

}  // namespace

std::size_t padded_bytes(const Box& box, Precision precision) {
  return static_cast<std::size_t>(box.modes()) * (precision == Precision::F64 ? 16 : 8);
}

std::unique_ptr<DeviceTransform> make_device_transform(runtime::Device& device, const Box& box,
                                                       Precision precision, std::string* why) {
  if (box.n[3] > 1) {
    if (why) *why = "a box of four dimensions is transformed by the host";
    return nullptr;
  }
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
    return std::make_unique<HostTransform<double>>(device, box, planes_of(box), true, threads);
  return std::make_unique<HostTransform<float>>(device, box, planes_of(box), true, threads);
}

DeviceHalves make_device_halves(runtime::Device& device, const Box& box, std::int64_t planes,
                                std::int64_t columns, std::string* why) {
  if (device.info().target == program::Target::Cuda)
    return cufft_halves(device, box, planes, columns, why);
  if (why) *why = "ranks share the lattice, and columns are transformed by cuFFT alone";
  return {};
}

DeviceHalves make_host_halves(runtime::Device& device, const Box& box, std::int64_t planes,
                              std::int64_t columns, int threads) {
  return {std::make_unique<HostTransform<double>>(device, box, planes, false, threads),
          std::make_unique<HostColumns>(device, planes_of(box), columns, threads)};
}

}  // namespace vphi::fft
