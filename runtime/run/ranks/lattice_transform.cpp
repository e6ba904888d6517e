#include "runtime/run/ranks/lattice_transform.hpp"

#include <algorithm>

namespace vphi::runtime {

using program::Precision;

namespace {

constexpr std::size_t kMode = 2 * sizeof(double);
/// Bytes that a rank sends to another one in an exchange, at most. Memory for what arrives is kept.
constexpr std::uint64_t kMessage = std::uint64_t{1} << 27;

}  // namespace

LatticeTransform::LatticeTransform(const program::Program& program, Device& device,
                                   LatticeRanks* ranks, const fft::SharedTransform& shape)
    : program_(program),
      device_(device),
      ranks_(ranks),
      shape_(shape),
      box_(shape.box()),
      planes_(ranks ? program.cut.own : fft::planes_of(box_)) {}

LatticeTransform::~LatticeTransform() {
  try {
    release();
  } catch (const DeviceError&) {
    // A device that failed has reported it before.
  }
}

void LatticeTransform::release() {
  transform_.reset(), columns_.reset();
  if (sites_.id >= 0) device_.free(sites_);
  sites_ = {};
}

std::string LatticeTransform::refused() const {
  if (box_.n[3] > 1) return "a box of four dimensions is transformed by the host";
  if (ranks_ != nullptr && fft::planes_of(box_) == 1) return "ranks share a single row";
  if (program_.cut.second.ranks > 1) return "ranks share the lines of planes";
  return modes() == 0 ? "a rank has no columns of modes" : "";
}

std::int64_t LatticeTransform::sites() const {
  return planes_ * (box_.sites() / fft::planes_of(box_));
}

std::size_t LatticeTransform::mode_bytes() const {
  return static_cast<std::size_t>(modes()) * kMode;
}

/// The transforms have work memory of a box each. Ranks have their planes, and room for messages.
std::size_t LatticeTransform::bytes_beside() const {
  const auto of_sites = static_cast<std::size_t>(planes_ * fft::columns_of(box_)) * kMode;
  return 2 * mode_bytes() + (ranks_ ? 2 * of_sites : 0);
}

bool LatticeTransform::make(Where where, int threads, std::string* why) {
  const bool on_device = where == Where::Device;
  if (ranks_ == nullptr) {
    transform_ = on_device ? fft::make_device_transform(device_, box_, Precision::F64, why)
                           : fft::make_host_transform(device_, box_, Precision::F64, threads);
    return transform_ != nullptr;
  }
  const std::int64_t count = shape_.columns().count;
  auto halves = on_device ? fft::make_device_halves(device_, box_, planes_, count, why)
                          : fft::make_host_halves(device_, box_, planes_, count, threads);
  transform_ = std::move(halves.planes), columns_ = std::move(halves.columns);
  if (!transform_) return false;
  sites_ = device_.allocate(static_cast<std::size_t>(planes_ * fft::columns_of(box_)) * kMode);
  return true;
}

/// Of each plane the columns of every rank follow one another.
void LatticeTransform::deal(BufferHandle from, BufferHandle to, bool to_columns) {
  const int ranks = ranks_->comm().size();
  const auto mode = [](std::int64_t number) { return static_cast<std::uint64_t>(number) * kMode; };
  std::uint64_t widest = 1;  // bytes of the columns of a rank in a plane
  std::int64_t most = 0;     // planes of a rank
  for (int r = 0; r < ranks; ++r) {
    widest = std::max(widest, mode(shape_.columns_of_rank(r).count));
    most = std::max(most, program_.cut.planes(ranks, r).count);
  }
  const auto at_once = static_cast<std::int64_t>(std::max<std::uint64_t>(1, kMessage / widest));
  for (std::int64_t part = 0; part * at_once < most; ++part) {
    Wanted::Dealt dealt{from, to, {}, static_cast<int>(part)};
    for (int a = 0; a < ranks; ++a) {
      auto& row = dealt.runs.emplace_back();
      for (int b = 0; b < ranks; ++b) {
        const auto planes = program_.cut.planes(ranks, to_columns ? a : b);
        const auto columns = shape_.columns_of_rank(to_columns ? b : a);
        const std::int64_t before = std::min(planes.count, part * at_once),
                           some = std::min(planes.count - before, at_once);
        // where these columns of these planes lie with all columns, and with all planes
        const std::uint64_t plane = mode(fft::columns_of(box_)),
                            in_planes =
                                static_cast<std::uint64_t>(before) * plane + mode(columns.first);
        const std::uint64_t in_columns = mode((planes.first + before) * columns.count);
        const std::uint64_t piece = mode(columns.count);
        const auto count = static_cast<std::uint64_t>(columns.count > 0 ? some : 0);
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
}

void LatticeTransform::forward(BufferHandle modes) {
  transform_->forward(sites_of(modes));
  if (ranks_ == nullptr) return;
  deal(sites_, modes, true);
  columns_->forward(modes);
}

void LatticeTransform::inverse(BufferHandle modes) {
  if (ranks_ != nullptr) {
    columns_->inverse(modes);
    deal(modes, sites_, false);
  }
  transform_->inverse(sites_of(modes));
}

}  // namespace vphi::runtime
