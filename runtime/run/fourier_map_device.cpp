#include <algorithm>

#include "runtime/run/fourier_map.hpp"

namespace vphi::runtime {

using program::Precision;

namespace {

FourierMaps tables_of(const program::Program& program, LatticeRanks* ranks, int threads) {
  return ranks == nullptr ? FourierMaps(program, threads)
                          : FourierMaps(program, ranks->comm(), threads);
}

constexpr std::size_t kMode = 2 * sizeof(double);

}  // namespace

DeviceFourierMaps::DeviceFourierMaps(const program::Program& program, Device& device, int threads,
                                     Transform transform, LatticeRanks* ranks)
    : program_(program),
      device_(device),
      wanted_(transform),
      threads_(threads),
      ranks_(ranks),
      tables_(tables_of(program, ranks, threads)),
      box_(tables_.transform().box()),
      planes_(ranks ? program.cut.own : fft::planes_of(box_)),
      own_sites_(planes_ * (box_.sites() / fft::planes_of(box_))),
      modes_(tables_.transform().modes()),
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
  transform_.reset(), columns_.reset();
  for (const BufferHandle box : boxes_) device_.free(box);
  boxes_.clear();
  for (BufferHandle* one : {&sites_, &sheet_}) {
    if (one->id >= 0) device_.free(*one);
    *one = {};
  }
  for (const auto& [table, list] : factors_)
    for (const Factors& entry : list) device_.free(entry.memory);
  factors_.clear();
}

bool DeviceFourierMaps::ready() {
  if (transform_) return true;
  if (!why_.empty()) return false;
  bool made = make();
  if (ranks_ != nullptr && ranks_->comm().most(made ? 0 : 1) != 0) {
    made = false;
    if (why_.empty()) why_ = "another rank cannot";
  }
  if (!made) release();
  return made;
}

bool DeviceFourierMaps::make() {
  const DeviceInfo info = device_.info();
  std::size_t most = 0, matrices = 0;
  for (const program::FourierMap& map : program_.maps) {
    most = std::max(most, map.from.size());
    matrices += 2 * map.from.size() * map.to.size();
  }
  const auto bytes = static_cast<std::size_t>(modes_) * kMode;
  const auto of_sites = static_cast<std::size_t>(planes_ * fft::columns_of(box_)) * kMode;
  // the transform has work memory of a box or two, ranks send and receive one each; matrices of a
  // map may be complex
  const std::size_t needed = bytes * (most + 3) + (ranks_ ? 3 * of_sites : 0) +
                             sizeof(double) * matrices * static_cast<std::size_t>(modes_);
  if (!info.f64 || info.memory_free < needed) {
    why_ = info.f64 ? "too little memory is free" : "the device has no f64";
    return false;
  }
  if (ranks_ != nullptr && fft::planes_of(box_) == 1) {
    why_ = "ranks share a single row";
    return false;
  }
  if (program_.cut.second.ranks > 1) {
    why_ = "ranks share the lines of planes";
    return false;
  }
  if (modes_ == 0) {
    why_ = "a rank has no columns of modes";
    return false;
  }
  try {
    make_transforms();
    if (!transform_) return false;
    for (std::size_t i = 0; i <= most; ++i) boxes_.push_back(device_.allocate(bytes));
    if (ranks_ != nullptr) sites_ = device_.allocate(of_sites);
    std::vector<double> sheet(kSheetSize);
    for (std::size_t axis = 0; axis < 3; ++axis)
      sheet[kNx + axis] = static_cast<double>(box_.n[axis]);
    sheet[box_.n[2] > 1 ? kNz : kNy] = static_cast<double>(planes_);
    sheet[kScale] = 1 / static_cast<double>(box_.sites());
    sheet[kModes] = static_cast<double>(modes_);
    if (ranks_ != nullptr)
      sheet[kFirst] =
          static_cast<double>(program_.cut.ghost[0] * (box_.sites() / fft::planes_of(box_)));
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
                           own_sites_);
  }
  for (const FieldKernel which : {FieldKernel::SetModesReal, FieldKernel::AddModesReal,
                                  FieldKernel::SetModesComplex, FieldKernel::AddModesComplex})
    kernels_.prepare(which, Precision::F64, modes_);
}

void DeviceFourierMaps::make_transforms() {
  const bool on_device = wanted_ == Transform::Device;
  if (ranks_ == nullptr) {
    transform_ = on_device ? fft::make_device_transform(device_, box_, Precision::F64, &why_)
                           : fft::make_host_transform(device_, box_, Precision::F64, threads_);
    return;
  }
  const std::int64_t count = tables_.transform().columns().count;
  auto halves = on_device ? fft::make_device_halves(device_, box_, planes_, count, &why_)
                          : fft::make_host_halves(device_, box_, planes_, count, threads_);
  transform_ = std::move(halves.planes), columns_ = std::move(halves.columns);
}

/// Of each plane the columns of every rank follow one another.
void DeviceFourierMaps::deal(BufferHandle from, BufferHandle to, bool to_columns) {
  const int ranks = ranks_->comm().size();
  const auto mode = [](std::int64_t number) { return static_cast<std::uint64_t>(number) * kMode; };
  Wanted::Dealt dealt{from, to, {}};
  for (int a = 0; a < ranks; ++a) {
    auto& row = dealt.runs.emplace_back();
    for (int b = 0; b < ranks; ++b) {
      const auto planes = program_.cut.planes(ranks, to_columns ? a : b);
      const auto columns = tables_.transform().columns_of_rank(to_columns ? b : a);
      // where these columns of these planes lie with all columns, and with all planes
      const std::uint64_t in_planes = mode(columns.first), plane = mode(fft::columns_of(box_));
      const std::uint64_t in_columns = mode(planes.first * columns.count);
      const std::uint64_t piece = mode(columns.count);
      const auto count = static_cast<std::uint64_t>(columns.count > 0 ? planes.count : 0);
      if (to_columns)
        row.push_back({in_planes, plane, in_columns, piece, piece, count});
      else
        row.push_back({in_columns, piece, in_planes, plane, piece, count});
    }
  }
  Wanted wanted;
  wanted.dealt.push_back(std::move(dealt));
  ranks_->exchange(wanted);
}

void DeviceFourierMaps::forward(BufferHandle box) {
  transform_->forward(sites_of(box));
  if (ranks_ == nullptr) return;
  deal(sites_, box, true);
  columns_->forward(box);
}

void DeviceFourierMaps::inverse(BufferHandle box) {
  if (ranks_ != nullptr) {
    columns_->inverse(box);
    deal(box, sites_, false);
  }
  transform_->inverse(sites_of(box));
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
    kernels_.launch(FieldKernel::Pad, precision(of.from[i]), own_sites_,
                    {sites_of(boxes_[i]), from[i], sheet_});
    forward(boxes_[i]);
  }
  const BufferHandle sum = boxes_.back();
  for (std::size_t row = 0; row < to.size(); ++row) {
    bool first = true;
    for (const Factors& entry : all) {
      if (entry.row != row) continue;
      const FieldKernel which =
          entry.real ? first ? FieldKernel::SetModesReal : FieldKernel::AddModesReal
                     : (first ? FieldKernel::SetModesComplex : FieldKernel::AddModesComplex);
      kernels_.launch(which, Precision::F64, modes_,
                      {sum, boxes_[entry.column], entry.memory, sheet_});
      first = false;
    }
    if (first)
      device_.zero(sites_of(sum));
    else
      inverse(sum);
    kernels_.launch(FieldKernel::Unpad, precision(of.to[row]), own_sites_,
                    {to[row], sites_of(sum), sheet_});
  }
}

}  // namespace vphi::runtime
