#include <algorithm>

#include "runtime/run/fourier_map.hpp"

namespace vphi::runtime {

using program::Precision;

namespace {

FourierMaps tables_of(const program::Program& program, LatticeRanks* ranks, int threads) {
  return ranks == nullptr ? FourierMaps(program, threads)
                          : FourierMaps(program, ranks->comm(), threads);
}

}  // namespace

DeviceFourierMaps::DeviceFourierMaps(const program::Program& program, Device& device, int threads,
                                     Transform transform, LatticeRanks* ranks)
    : program_(program),
      device_(device),
      wanted_(transform),
      threads_(threads),
      ranks_(ranks),
      tables_(tables_of(program, ranks, threads)),
      transform_(program, device, ranks, tables_.transform()),
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
  transform_.release();
  for (const BufferHandle box : boxes_) device_.free(box);
  boxes_.clear();
  if (sheet_.id >= 0) device_.free(sheet_);
  sheet_ = {};
  for (const auto& [table, list] : factors_)
    for (const Factors& entry : list) device_.free(entry.memory);
  factors_.clear();
}

bool DeviceFourierMaps::ready() {
  if (ready_) return true;
  if (!why_.empty()) return false;
  bool made = make();
  if (ranks_ != nullptr && ranks_->comm().most(made ? 0 : 1) != 0) {
    made = false;
    if (why_.empty()) why_ = "another rank cannot";
  }
  if (!made) release();
  return ready_ = made;
}

bool DeviceFourierMaps::make() {
  const DeviceInfo info = device_.info();
  std::size_t most = 0, matrices = 0;
  for (const program::FourierMap& map : program_.maps) {
    most = std::max(most, map.from.size());
    matrices += 2 * map.from.size() * map.to.size();
  }
  const std::size_t bytes = transform_.mode_bytes();
  // matrices of a map may be complex
  const std::size_t needed =
      bytes * (most + 1) + transform_.bytes_beside() +
      sizeof(double) * matrices * static_cast<std::size_t>(transform_.modes());
  if (!info.f64 || info.memory_free < needed) {
    why_ = info.f64 ? "too little memory is free" : "the device has no f64";
    return false;
  }
  why_ = transform_.refused();
  if (!why_.empty()) return false;
  try {
    if (!transform_.make(wanted_, threads_, &why_)) return false;
    for (std::size_t i = 0; i <= most; ++i) boxes_.push_back(device_.allocate(bytes));
    const fft::Box& box = tables_.transform().box();
    std::vector<double> sheet(kSheetSize);
    for (std::size_t axis = 0; axis < 3; ++axis)
      sheet[kNx + axis] = static_cast<double>(box.n[axis]);
    sheet[kRows] = static_cast<double>(transform_.rows());
    sheet[kScale] = 1 / static_cast<double>(box.sites());
    sheet[kModes] = static_cast<double>(transform_.modes());
    if (ranks_ != nullptr)
      sheet[kFirst] =
          static_cast<double>(program_.cut.ghost[0] * (box.sites() / fft::planes_of(box)));
    sheet_ = device_.allocate(sizeof(double) * kSheetSize);
    device_.upload(sheet_, 0, std::as_bytes(std::span(sheet)));
    if (ranks_ != nullptr) make_all();
  } catch (const DeviceError& error) {
    why_ = error.what();
    return false;
  }
  return true;
}

/// Devices of ranks wait for each other in their queues, and none of them may compile or allocate
/// meanwhile.
void DeviceFourierMaps::make_all() {
  for (std::size_t map = 0; map < program_.maps.size(); ++map) {
    factors(map);
    for (const auto* list : {&program_.maps[map].from, &program_.maps[map].to})
      for (const int buffer : *list)
        for (const FieldKernel which : {FieldKernel::Pad, FieldKernel::Unpad})
          kernels_.prepare(which, program_.buffers[static_cast<std::size_t>(buffer)].precision,
                           transform_.sites());
  }
  for (const FieldKernel which : {FieldKernel::SetModesReal, FieldKernel::AddModesReal,
                                  FieldKernel::SetModesComplex, FieldKernel::AddModesComplex})
    kernels_.prepare(which, Precision::F64, transform_.modes());
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
    kernels_.launch(FieldKernel::Pad, precision(of.from[i]), transform_.sites(),
                    {transform_.sites_of(boxes_[i]), from[i], sheet_});
    transform_.forward(boxes_[i]);
  }
  const BufferHandle sum = boxes_.back();
  for (std::size_t row = 0; row < to.size(); ++row) {
    bool first = true;
    for (const Factors& entry : all) {
      if (entry.row != row) continue;
      const FieldKernel which =
          entry.real ? first ? FieldKernel::SetModesReal : FieldKernel::AddModesReal
                     : (first ? FieldKernel::SetModesComplex : FieldKernel::AddModesComplex);
      kernels_.launch(which, Precision::F64, transform_.modes(),
                      {sum, boxes_[entry.column], entry.memory, sheet_});
      first = false;
    }
    if (first)
      device_.zero(transform_.sites_of(sum));
    else
      transform_.inverse(sum);
    kernels_.launch(FieldKernel::Unpad, precision(of.to[row]), transform_.sites(),
                    {to[row], transform_.sites_of(sum), sheet_});
  }
}

}  // namespace vphi::runtime
