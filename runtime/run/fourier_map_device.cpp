#include <algorithm>

#include "runtime/run/fourier_map.hpp"

namespace vphi::runtime {

using program::Precision;

DeviceFourierMaps::DeviceFourierMaps(const program::Program& program, Device& device, int threads,
                                     Transform transform)
    : program_(program),
      device_(device),
      wanted_(transform),
      threads_(threads),
      tables_(program, threads),
      box_{{program.extent[0], program.extent[1], program.extent[2]}},
      kernels_(device) {}

DeviceFourierMaps::~DeviceFourierMaps() {
  try {
    device_.synchronise();
    release();
  } catch (const DeviceError&) {
    // A device that failed has reported it before.
  }
}

void DeviceFourierMaps::release() {
  transform_.reset();
  for (const BufferHandle box : boxes_) device_.free(box);
  boxes_.clear();
  if (sheet_.id >= 0) device_.free(sheet_);
  sheet_ = {};
  for (const auto& [table, list] : factors_)
    for (const Factors& entry : list) device_.free(entry.memory);
  factors_.clear();
}

bool DeviceFourierMaps::ready() {
  if (transform_) return true;
  if (!why_.empty()) return false;
  const DeviceInfo info = device_.info();
  std::size_t most = 0, matrices = 0;
  for (const program::FourierMap& map : program_.maps) {
    most = std::max(most, map.from.size());
    matrices += 2 * map.from.size() * map.to.size();
  }
  const std::size_t bytes = fft::padded_bytes(box_, Precision::F64);
  // the transform has work memory of a box or two; matrices of a map may be complex
  const std::size_t needed =
      bytes * (most + 3) + sizeof(double) * matrices * static_cast<std::size_t>(box_.modes());
  if (!info.f64 || info.memory_free < needed) {
    why_ = info.f64 ? "too little memory is free" : "the device has no f64";
    return false;
  }
  try {
    transform_ = wanted_ == Transform::Device
                     ? fft::make_device_transform(device_, box_, Precision::F64, &why_)
                     : fft::make_host_transform(device_, box_, Precision::F64, threads_);
    if (!transform_) return false;
    for (std::size_t i = 0; i <= most; ++i) boxes_.push_back(device_.allocate(bytes));
    std::vector<double> sheet(kSheetSize);
    for (std::size_t axis = 0; axis < 3; ++axis)
      sheet[kNx + axis] = static_cast<double>(box_.n[axis]);
    sheet[kScale] = 1 / static_cast<double>(box_.sites());
    sheet_ = device_.allocate(sizeof(double) * kSheetSize);
    device_.upload(sheet_, 0, std::as_bytes(std::span(sheet)));
  } catch (const DeviceError& error) {
    why_ = error.what();
    release();
    return false;
  }
  return true;
}

const std::vector<DeviceFourierMaps::Factors>& DeviceFourierMaps::factors(std::size_t map) {
  const FourierMaps::Table& table = tables_.table(map);
  const auto [found, made] = factors_.try_emplace(&table);
  if (!made) return found->second;
  for (const FourierMaps::Entry& entry : table) {
    const bool real = entry.im.empty();
    std::vector<double> numbers = entry.re;
    if (!real) {
      numbers.resize(2 * entry.re.size());
      for (std::size_t i = 0; i < entry.re.size(); ++i)
        numbers[2 * i] = entry.re[i], numbers[2 * i + 1] = entry.im[i];
    }
    const BufferHandle memory = device_.allocate(sizeof(double) * numbers.size());
    found->second.push_back({entry.row, entry.column, real, memory});
    device_.upload(memory, 0, std::as_bytes(std::span(numbers)));
  }
  return found->second;
}

void DeviceFourierMaps::apply(std::size_t map, std::span<const BufferHandle> from,
                              std::span<const BufferHandle> to) {
  const std::vector<Factors>& all = factors(map);
  const program::FourierMap& of = program_.maps[map];
  const auto precision = [&](int buffer) {
    return program_.buffers[static_cast<std::size_t>(buffer)].precision;
  };
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (std::ranges::none_of(all, [&](const Factors& entry) { return entry.column == i; }))
      continue;
    kernels_.launch(FieldKernel::Pad, precision(of.from[i]), box_.sites(),
                    {boxes_[i], from[i], sheet_});
    transform_->forward(boxes_[i]);
  }
  const BufferHandle sum = boxes_.back();
  for (std::size_t row = 0; row < to.size(); ++row) {
    bool first = true;
    for (const Factors& entry : all) {
      if (entry.row != row) continue;
      const FieldKernel which =
          entry.real ? first ? FieldKernel::SetModesReal : FieldKernel::AddModesReal
                     : (first ? FieldKernel::SetModesComplex : FieldKernel::AddModesComplex);
      kernels_.launch(which, Precision::F64, box_.modes(),
                      {sum, boxes_[entry.column], entry.memory, sheet_});
      first = false;
    }
    if (first)
      device_.zero(sum);
    else
      transform_->inverse(sum);
    kernels_.launch(FieldKernel::Unpad, precision(of.to[row]), box_.sites(),
                    {to[row], sum, sheet_});
  }
}

}  // namespace vphi::runtime
