#include "runtime/run/ranks/ghosts.hpp"

#include <algorithm>
#include <bit>

namespace vphi::runtime {

using program::Cut;
using program::Precision;

ImageMask image_mask(const Cut& cut, Cut::End end, Precision precision) {
  const bool single = precision == Precision::F32;
  ImageMask mask;
  if (end == Cut::End::Antiperiodic)
    mask.flip = single ? 0x8000000080000000ULL : 0x8000000000000000ULL;
  if (end != Cut::End::Fixed) return mask;
  mask.keep = 0;
  const auto narrow = std::bit_cast<std::uint32_t>(static_cast<float>(cut.fixed_value));
  mask.flip = single ? (std::uint64_t{narrow} << 32 | narrow)
                     : std::bit_cast<std::uint64_t>(cut.fixed_value);
  return mask;
}

bool beyond_neighbours(const Cut& cut, int ranks, const std::array<int, 2>& depth) {
  if (cut.all) return true;
  for (int rank = 0; rank < ranks; ++rank)
    if (std::max(depth[0], depth[1]) > cut.planes(ranks, rank).count) return true;
  return false;
}

std::size_t planes_in_memory(const program::Program& p) {
  return static_cast<std::size_t>(p.extent[static_cast<std::size_t>(p.cut.axis)]);
}

std::size_t plane_bytes(const program::Program& p, Precision precision) {
  return static_cast<std::size_t>(p.sites()) / planes_in_memory(p) *
         (precision == Precision::F32 ? sizeof(float) : sizeof(double));
}

namespace {

/// The planes of all other ranks, above the own ones in cyclic order.
std::vector<GhostPlanes> others_of(const Cut& cut, int ranks, int rank) {
  std::vector<GhostPlanes> list;
  std::int64_t to = cut.planes(ranks, rank).count;
  for (int next = 1; next < ranks; ++next) {
    const int of = (rank + next) % ranks;
    const std::int64_t count = cut.planes(ranks, of).count;
    list.push_back({of, 0, to, count, Cut::End::Periodic});
    to += count;
  }
  return list;
}

}  // namespace

std::vector<GhostPlanes> ghosts_of(const Cut& cut, int ranks, int rank,
                                   const std::array<int, 2>& depth) {
  std::vector<GhostPlanes> list;
  const std::int64_t first = cut.ghost[0];
  if (cut.all) return others_of(cut, ranks, rank);
  const auto own = [&](int of) { return cut.planes(ranks, of).count; };
  // beyond an end that is not periodic each plane is an image of a plane of this rank
  const auto images = [&](Cut::End end, std::int64_t nearest, int outwards, int count) {
    for (int k = 0; k < count; ++k)
      list.push_back({rank, end == Cut::End::Mirror ? nearest - outwards * k : nearest,
                      nearest + outwards * (k + 1), 1, end});
  };
  const auto image = [](Cut::End end) {
    return end == Cut::End::Mirror || end == Cut::End::Open || end == Cut::End::Fixed;
  };
  const Cut::End below = rank > 0 ? Cut::End::Periodic : cut.ends[0];
  const Cut::End above = rank + 1 < ranks ? Cut::End::Periodic : cut.ends[1];
  // else they are planes of the next ranks: of the neighbour, and of others where it has too few
  if (image(below)) {
    images(below, first, -1, depth[0]);
  } else {
    std::int64_t to = first, left = depth[0];
    Cut::End change = Cut::End::Periodic;
    for (int of = rank; left > 0;) {
      if (of == 0) change = cut.ends[0];
      of = (of + ranks - 1) % ranks;
      const std::int64_t count = std::min(left, own(of));
      to -= count, left -= count;
      list.push_back({of, first + own(of) - count, to, count, change});
    }
  }
  if (image(above)) {
    images(above, first + own(rank) - 1, 1, depth[1]);
  } else {
    std::int64_t to = first + own(rank), left = depth[1];
    Cut::End change = Cut::End::Periodic;
    for (int of = rank; left > 0;) {
      if (of + 1 == ranks) change = cut.ends[1];
      of = (of + 1) % ranks;
      const std::int64_t count = std::min(left, own(of));
      list.push_back({of, first, to, count, change});
      to += count, left -= count;
    }
  }
  return list;
}

}  // namespace vphi::runtime
