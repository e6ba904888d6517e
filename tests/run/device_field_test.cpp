// Fields and spectra made on a device against the host's: on OpenCL's processor device with the
// host's transform and with VkFFT, on CUDA with cuFFT where there is a GPU.
#include "runtime/run/starts/device_field.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "runtime/device/cuda/cuda.hpp"
#include "runtime/device/cuda/nvrtc.hpp"
#include "runtime/device/opencl/opencl.hpp"
#include "runtime/run/fourier_map.hpp"
#include "runtime/run/session.hpp"
#include "runtime/run/starts/random_field.hpp"

namespace vphi::runtime {
namespace {

using program::Precision;
using program::RandomField;

program::Program lattice(std::array<std::int64_t, 4> extent, int dims) {
  program::Program p;
  p.extent = extent, p.dims = dims;
  p.dx = p.dx_physical = 0.4;
  p.seed = 0x123456789abcULL;
  return p;
}

std::vector<double> read(Device& device, BufferHandle from, std::int64_t sites,
                         Precision precision) {
  const auto count = static_cast<std::size_t>(sites);
  std::vector<double> out(count);
  if (precision == Precision::F64) {
    device.download(std::as_writable_bytes(std::span(out)), from, 0);
    return out;
  }
  std::vector<float> narrow(count);
  device.download(std::as_writable_bytes(std::span(narrow)), from, 0);
  return {narrow.begin(), narrow.end()};
}

double root_mean_square(const std::vector<double>& f) {
  double sum = 0;
  for (double v : f) sum += v * v;
  return std::sqrt(sum / static_cast<double>(f.size()));
}

void expect_near(const std::vector<double>& f, const std::vector<double>& expected, double bound) {
  ASSERT_EQ(f.size(), expected.size());
  const double scale = root_mean_square(expected);
  double worst = 0;
  for (std::size_t i = 0; i < f.size(); ++i) worst = std::max(worst, std::abs(f[i] - expected[i]));
  EXPECT_LT(worst, bound * scale) << "rms " << scale;
  EXPECT_GT(scale, 0);
}

struct Way {
  const char* device;
  DeviceFields::Transform transform;
};

class OnDevice : public ::testing::TestWithParam<Way> {
 protected:
  void SetUp() override {
    std::string why;
    const bool cuda = std::string(GetParam().device) == "cuda";
    if (cuda ? list_cuda(&why).empty() : list_opencl(&why).empty())
      GTEST_SKIP() << "no such device here: " << why;
    device_ = open_device(GetParam().device);
    if (GetParam().transform == DeviceFields::Transform::Host) return;
    if (!fft::make_device_transform(*device_, {{8, 8, 8}}, Precision::F64, &why))
      GTEST_SKIP() << "no library transforms on this device: " << why;
  }

  /// One random field on the device beside the host's.
  void compare(DeviceFields& fields, const program::Program& p, const RandomField& field,
               Precision precision) {
    const BufferHandle to = device_->allocate(static_cast<std::size_t>(p.sites()) * 8);
    ASSERT_TRUE(fields.random(field, to, precision)) << fields.why();
    expect_near(read(*device_, to, p.sites(), precision), random_field(p, field, 2),
                precision == Precision::F64 ? 2e-13 : 4e-7);
    device_->free(to);
  }

  /// Shapes of every kind; plans for a processor take VkFFT seconds, so it gets a few.
  static std::vector<std::pair<std::array<std::int64_t, 4>, int>> shapes() {
    if (std::string(GetParam().device) == "opencl" &&
        GetParam().transform == DeviceFields::Transform::Device)
      return {{{12, 10, 18, 1}, 3}, {{15, 10, 1, 1}, 2}};
    return {{{16, 16, 16, 1}, 3}, {{12, 10, 18, 1}, 3}, {{9, 15, 7, 1}, 3},
            {{32, 24, 1, 1}, 2},  {{15, 10, 1, 1}, 2},  {{64, 1, 1, 1}, 1}};
  }

  std::unique_ptr<Device> device_;
};

TEST_P(OnDevice, RandomFieldsAreTheHosts) {
  for (const auto& [extent, dims] : shapes()) {
    const auto p = lattice(extent, dims);
    DeviceFields fields(p, *device_, GetParam().transform);
    for (bool kernel_form : {true, false})
      for (bool velocity : {false, true}) {
        RandomField field;
        field.kind = RandomField::Kind::Vacuum;
        field.kernel_form = kernel_form, field.velocity = velocity;
        field.mass2 = 0.7, field.amplitude = 1e-3, field.stream = 3;
        field.cutoff = kernel_form ? 0 : 4;
        SCOPED_TRACE(::testing::Message() << extent[0] << "x" << extent[1] << "x" << extent[2]
                                          << " " << (kernel_form ? "kernel" : "k-space"));
        compare(fields, p, field, velocity ? Precision::F32 : Precision::F64);
      }
    for (auto kind : {RandomField::Kind::Normal, RandomField::Kind::Uniform}) {
      RandomField field;
      field.kind = kind;
      field.amplitude = 2, field.low = -1, field.high = 3, field.stream = 1;
      compare(fields, p, field, Precision::F64);
    }
  }
}

TEST_P(OnDevice, MapsInFourierSpaceAreTheHosts) {
  for (const auto& [extent, dims] : shapes()) {
    auto p = lattice(extent, dims);
    for (const Precision precision : {Precision::F64, Precision::F64, Precision::F32})
      p.buffers.emplace_back().precision = precision;
    // real and complex entries, two in a row, and a row without any
    program::FourierMap coupled{
        .name = "coupled",
        .function = program::FourierMap::Function::Exp,
        .scale = 0.3,
        .from = {0, 1, 2},
        .to = {2, 0, 1},
        .matrix = {{0, 0, 1, {}, 1}, {0, 1, 0.5, {1}, 0}, {1, 0, -2, {}, 0}}};
    program::FourierMap itself{.name = "itself",
                               .function = program::FourierMap::Function::Itself,
                               .from = {0, 2},
                               .to = {0, 2},
                               .matrix = {{0, 1, 0.7, {}, 1}}};
    p.maps = {coupled, itself};
    std::vector<std::vector<double>> fields;
    std::vector<BufferHandle> memory;
    for (std::size_t b = 0; b < 3; ++b) {
      RandomField field;
      field.kind = RandomField::Kind::Normal;
      field.stream = static_cast<int>(b);
      fields.push_back(random_field(p, field, 1));
      memory.push_back(device_->allocate(fields[b].size() * 8));
      if (p.buffers[b].precision == Precision::F64) {
        device_->upload(memory[b], 0, std::as_bytes(std::span(fields[b])));
        continue;
      }
      const std::vector<float> narrow(fields[b].begin(), fields[b].end());
      device_->upload(memory[b], 0, std::as_bytes(std::span(narrow)));
      fields[b].assign(narrow.begin(), narrow.end());
    }
    FourierMaps host(p, 1);
    DeviceFourierMaps device(p, *device_, 1,
                             GetParam().transform == DeviceFields::Transform::Host
                                 ? DeviceFourierMaps::Transform::Host
                                 : DeviceFourierMaps::Transform::Device);
    ASSERT_TRUE(device.ready()) << device.why();
    for (std::size_t map = 0; map < p.maps.size(); ++map) {
      const program::FourierMap& of = p.maps[map];
      std::vector<std::vector<double>> from;
      std::vector<BufferHandle> from_memory, to_memory;
      for (const int b : of.from)
        from.push_back(fields[static_cast<std::size_t>(b)]),
            from_memory.push_back(memory[static_cast<std::size_t>(b)]);
      for (const int b : of.to) to_memory.push_back(memory[static_cast<std::size_t>(b)]);
      const auto expected = host.apply(map, from);
      device.apply(map, from_memory, to_memory);
      for (std::size_t row = 0; row < of.to.size(); ++row) {
        const auto b = static_cast<std::size_t>(of.to[row]);
        SCOPED_TRACE(::testing::Message() << of.name << " " << row << ", " << extent[0]);
        const auto made = read(*device_, memory[b], p.sites(), p.buffers[b].precision);
        if (root_mean_square(expected[row]) > 0)
          expect_near(made, expected[row], p.buffers[b].precision == Precision::F64 ? 2e-13 : 4e-7);
        else
          EXPECT_EQ(root_mean_square(made), 0);
        fields[b] = made;
      }
    }
    device_->synchronise();
    for (const BufferHandle handle : memory) device_->free(handle);
  }
}

/// A session that makes its random fields on the device starts from the same state.
TEST_P(OnDevice, SessionStartsFromTheSameFields) {
  auto p = lattice({12, 12, 12, 1}, 3);
  p.target = device_->info().target;
  p.buffers = {{"phi", Precision::F64, false, true, false}};
  RandomField field;
  field.kind = RandomField::Kind::Vacuum;
  p.random = {field};
  std::vector<std::vector<double>> states;
  for (auto where : {SessionOptions::Fields::Host, SessionOptions::Fields::Device}) {
    SessionOptions options;
    options.fields = where;
    Session session(p, *device_, options);
    session.start();
    states.push_back(session.read(0));
  }
  expect_near(states[1], states[0], 2e-13);
}

TEST(FieldKernels, CompileForCuda) {
  if (nvrtc_version().empty()) GTEST_SKIP() << "no NVRTC";
  for (int which = 0; which <= static_cast<int>(FieldKernel::AddModesComplex); ++which)
    for (const Precision precision : {Precision::F32, Precision::F64}) {
      const program::Kernel kernel =
          field_kernel(static_cast<FieldKernel>(which), program::Target::Cuda, precision, 1000);
      std::string log;
      EXPECT_NO_THROW(nvrtc_compile(kernel.source, "sm_90", &log)) << kernel.name << log;
    }
}

INSTANTIATE_TEST_SUITE_P(Fields, OnDevice,
                         ::testing::Values(Way{"opencl", DeviceFields::Transform::Host},
                                           Way{"opencl", DeviceFields::Transform::Device},
                                           Way{"cuda", DeviceFields::Transform::Device}),
                         [](const auto& info) {
                           return std::string(info.param.device) +
                                  (info.param.transform == DeviceFields::Transform::Host ? "_host"
                                                                                         : "_own");
                         });

}  // namespace
}  // namespace vphi::runtime
