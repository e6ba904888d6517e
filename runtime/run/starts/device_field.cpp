#include "runtime/run/starts/device_field.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>

#include "runtime/device/native/thread_pool.hpp"
#include "runtime/run/starts/random_field.hpp"

namespace vphi::runtime {

using program::Precision;
using program::RandomField;

namespace {

constexpr std::int64_t kWorthSites = std::int64_t{1}
                                     << 22;  ///< below: loading libraries costs more

}  // namespace

DeviceFields::DeviceFields(const program::Program& program, Device& device, Transform transform)
    : p_(program),
      device_(device),
      wanted_(transform),
      box_{{program.extent[0], program.extent[1], program.extent[2]}},
      kernels_(device) {}

DeviceFields::~DeviceFields() {
  try {
    release();
  } catch (const DeviceError&) {
    // A device that failed has reported it before.
  }
}

bool DeviceFields::worth_it(const program::Program& p, const DeviceInfo& info) {
  return info.target != program::Target::Native && !info.is_cpu && info.f64 && p.dims <= 3 &&
         p.sites() >= kWorthSites;
}

BufferHandle DeviceFields::take(std::size_t bytes) { return device_.allocate(bytes); }

void DeviceFields::give(BufferHandle& handle) {
  if (handle.id >= 0) device_.free(handle);
  handle = {};
}

void DeviceFields::release() {
  device_.synchronise();
  transform_.reset();
  give(padded_), give(sheet_);
}

/// Box, sheet and plan; false where the device lacks memory or a library.
bool DeviceFields::ready() {
  if (transform_) return true;
  if (!why_.empty()) return false;
  const DeviceInfo info = device_.info();
  const std::size_t bytes = fft::padded_bytes(box_, Precision::F64);
  // The transform needs as much work memory again, and other buffers are still to be allocated.
  if (!info.f64 || info.memory_free < 3 * bytes) {
    why_ = info.f64 ? "too little memory is free" : "the device has no f64";
    return false;
  }
  try {
    transform_ = wanted_ == Transform::Device
                     ? fft::make_device_transform(device_, box_, Precision::F64, &why_)
                     : fft::make_host_transform(device_, box_, Precision::F64, usable_threads());
    if (!transform_) return false;
    padded_ = take(bytes);
    sheet_ = take(sizeof(double) * kSheetSize);
  } catch (const DeviceError& error) {
    why_ = error.what();
    transform_.reset();
    give(padded_), give(sheet_);
    return false;
  }
  return true;
}

void DeviceFields::write_sheet(const std::vector<double>& values) {
  device_.upload(sheet_, 0, std::as_bytes(std::span(values)));
}

std::vector<double> DeviceFields::blank_sheet() const {
  std::vector<double> sheet(kSheetSize);
  for (int axis = 0; axis < 3; ++axis) {
    const auto n = static_cast<double>(box_.n[axis]);
    sheet[kNx + axis] = n;
    sheet[kDkx + axis] = 2 * std::numbers::pi / (n * p_.dx);
  }
  sheet[kSeedLow] = static_cast<double>(p_.seed & 0xFFFFFFFFU);
  sheet[kSeedHigh] = static_cast<double>(p_.seed >> 32);
  return sheet;
}

bool DeviceFields::random(const RandomField& field, BufferHandle to, Precision precision) {
  if (field.kind == RandomField::Kind::File || field.kind == RandomField::Kind::Link ||
      field.kind == RandomField::Kind::Spectrum)
    return false;  // made by the host
  if (!ready()) return false;
  if (field.kind == RandomField::Kind::Vacuum) {
    vacuum(field, to, precision);
    return true;
  }
  auto sheet = blank_sheet();
  sheet[kStream] = static_cast<std::uint32_t>(field.stream);
  sheet[kScale] = field.amplitude;
  sheet[kLow] = field.low, sheet[kHigh] = field.high;
  write_sheet(sheet);
  kernels_.launch(
      field.kind == RandomField::Kind::Normal ? FieldKernel::Normal : FieldKernel::Uniform,
      precision, (box_.sites() + 1) / 2, {to, sheet_});
  return true;
}

void DeviceFields::vacuum(const RandomField& field, BufferHandle to, Precision precision) {
  const Vacuum v = vacuum_of(p_, field);
  const VacuumRecipe recipe = vacuum_recipe(v);
  auto sheet = blank_sheet();
  sheet[kStream] = v.stream;
  sheet[kMass2] = std::max(v.mass2, 0.0);
  sheet[kVelocity] = v.velocity ? 1 : 0;
  sheet[kCut] = recipe.cut;
  sheet[kSmooth] = recipe.smooth ? 1 : 0;
  sheet[kLaid] = recipe.correlator.empty() ? 0 : 1;
  sheet[kScale] = recipe.scale;
  write_sheet(sheet);
  if (!recipe.correlator.empty()) {
    BufferHandle correlator = take(sizeof(double) * recipe.correlator.size());
    device_.upload(correlator, 0, std::as_bytes(std::span(recipe.correlator)));
    kernels_.launch(FieldKernel::LayCorrelator, Precision::F64, box_.sites(),
                    {padded_, correlator, sheet_});
    transform_->forward(padded_);
    device_.synchronise();
    give(correlator);
  }
  kernels_.launch(FieldKernel::ColourModes, Precision::F64, box_.modes(), {padded_, sheet_});
  transform_->inverse(padded_);
  kernels_.launch(FieldKernel::Unpad, precision, box_.sites(), {to, padded_, sheet_});
}

std::optional<std::vector<DeviceFields::Shell>> DeviceFields::shells(BufferHandle from,
                                                                     Precision precision) {
  if (!ready()) return std::nullopt;
  auto sheet = blank_sheet();
  const double longest = static_cast<double>(*std::max_element(box_.n.begin(), box_.n.end()));
  double corner = 0;
  for (int axis = 0; axis < 3; ++axis) {
    sheet[kUnitX + axis] = longest / static_cast<double>(box_.n[axis]);
    corner += std::pow(sheet[kUnitX + axis] * static_cast<double>(box_.n[axis] / 2), 2);
  }
  const auto bins = static_cast<std::int64_t>(std::sqrt(corner) + 0.5) + 1;
  sheet[kBins] = static_cast<double>(bins);
  write_sheet(sheet);
  kernels_.launch(FieldKernel::Pad, precision, box_.sites(), {padded_, from, sheet_});
  transform_->forward(padded_);
  const std::int64_t count = bins * box_.n[2];
  BufferHandle sums = take(sizeof(double) * 2 * static_cast<std::size_t>(count));
  kernels_.launch(FieldKernel::BinPower, Precision::F64, count, {sums, padded_, sheet_});
  std::vector<double> planes(2 * static_cast<std::size_t>(count));
  device_.download(std::as_writable_bytes(std::span(planes)), sums, 0);
  give(sums);
  std::vector<Shell> shells(static_cast<std::size_t>(bins));
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {  // plane by plane, in order
    Shell& shell = shells[i % shells.size()];
    shell.power += planes[2 * i];
    shell.modes += static_cast<std::int64_t>(planes[2 * i + 1]);
  }
  return shells;
}

}  // namespace vphi::runtime
