#include "runtime/run/ranks/ghosts.hpp"

#include <algorithm>
#include <bit>
#include <functional>

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

std::size_t planes_in_memory(const program::Program& p) {
  return static_cast<std::size_t>(p.extent[static_cast<std::size_t>(p.cut.axis)]);
}

std::size_t plane_bytes(const program::Program& p, Precision precision) {
  return static_cast<std::size_t>(p.sites()) / planes_in_memory(p) *
         (precision == Precision::F32 ? sizeof(float) : sizeof(double));
}

std::uint64_t PlacesOfArray::moved(std::uint64_t from, std::int64_t planes,
                                   std::int64_t lines) const {
  const auto modulus = static_cast<std::int64_t>(classes);
  const std::int64_t change =
      planes * static_cast<std::int64_t>(beyond) + lines * static_cast<std::int64_t>(aside);
  return (from + static_cast<std::uint64_t>((change % modulus + modulus) % modulus)) % classes;
}

PlacesOfArray places_of_array(const program::Program& p, Precision precision, int lanes) {
  PlacesOfArray places;
  places.plane = plane_bytes(p, precision);
  const int second = p.cut.axis - 1;
  if (lanes > 0) {
    const auto weight = [&](int axis) {
      return static_cast<std::uint64_t>(p.order.weights[static_cast<std::size_t>(axis)]);
    };
    places.classes = static_cast<std::uint64_t>(p.order.modulus);
    places.plane = places.plane * static_cast<std::uint64_t>(lanes) / places.classes;
    places.beyond = weight(p.cut.axis);
    if (second >= 0) places.aside = weight(second);
  }
  if (second >= 0)
    places.line =
        places.plane / static_cast<std::uint64_t>(p.extent[static_cast<std::size_t>(second)]);
  return places;
}

int lanes_of(const program::Buffer& buffer) { return buffer.home < 0 ? 0 : buffer.lanes; }

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

/// What lies beside the own planes along one axis, in the memory of the ranks with places along it.
struct Along {
  std::array<Cut::End, 2> ends;
  std::int64_t first = 0;  ///< own plane in memory
  int ranks = 1, place = 0;
  std::function<std::int64_t(int)> own;  ///< planes of the rank at a place
};

std::vector<GhostPlanes> beside_own(const Along& along, const std::array<int, 2>& depth) {
  std::vector<GhostPlanes> list;
  const std::int64_t first = along.first;
  const int place = along.place, ranks = along.ranks;
  const auto& own = along.own;
  // beyond an end that is not periodic each plane is an image of a plane of this rank
  const auto images = [&](Cut::End end, std::int64_t nearest, int outwards, int count) {
    for (int k = 0; k < count; ++k)
      list.push_back({place, end == Cut::End::Mirror ? nearest - outwards * k : nearest,
                      nearest + outwards * (k + 1), 1, end});
  };
  const auto image = [](Cut::End end) {
    return end == Cut::End::Mirror || end == Cut::End::Open || end == Cut::End::Fixed;
  };
  const Cut::End below = place > 0 ? Cut::End::Periodic : along.ends[0];
  const Cut::End above = place + 1 < ranks ? Cut::End::Periodic : along.ends[1];
  // else they are planes of the next ranks: of the neighbour, and of others where it has too few
  if (image(below)) {
    images(below, first, -1, depth[0]);
  } else {
    std::int64_t to = first, left = depth[0];
    Cut::End change = Cut::End::Periodic;
    for (int of = place; left > 0;) {
      if (of == 0) change = along.ends[0];
      of = (of + ranks - 1) % ranks;
      const std::int64_t count = std::min(left, own(of));
      to -= count, left -= count;
      list.push_back({of, first + own(of) - count, to, count, change});
    }
  }
  if (image(above)) {
    images(above, first + own(place) - 1, 1, depth[1]);
  } else {
    std::int64_t to = first + own(place), left = depth[1];
    Cut::End change = Cut::End::Periodic;
    for (int of = place; left > 0;) {
      if (of + 1 == ranks) change = along.ends[1];
      of = (of + 1) % ranks;
      const std::int64_t count = std::min(left, own(of));
      list.push_back({of, first, to, count, change});
      to += count, left -= count;
    }
  }
  return list;
}

/// Along the axis of `Cut::axis`; places along it are those of ranks with the same lines.
std::vector<GhostPlanes> beside_own_planes(const Cut& cut, int ranks, int rank,
                                           const std::array<int, 2>& depth) {
  const int second = cut.second.ranks;
  return beside_own({cut.ends, cut.ghost[0], ranks / second, rank / second,
                     [&](int place) { return cut.planes(ranks, place * second).count; }},
                    depth);
}

}  // namespace

std::vector<GhostPlanes> ghosts_of(const Cut& cut, int ranks, int rank,
                                   const std::array<int, 2>& depth) {
  if (cut.all) return others_of(cut, ranks, rank);
  return beside_own_planes(cut, ranks, rank, depth);
}

std::vector<GhostBlock> ghost_blocks(const Cut& cut, int ranks, int rank,
                                     const std::array<int, 2>& depth,
                                     const std::array<int, 2>& beside) {
  const Cut::Second& second = cut.second;
  const int plane_place = rank / second.ranks, line_place = rank % second.ranks;
  // the own ones come first along both axes
  std::vector<GhostPlanes> planes{{plane_place, cut.ghost[0], cut.ghost[0], cut.own, {}}},
      lines{{line_place, second.ghost[0], second.ghost[0], second.own, {}}};
  planes[0].count = cut.planes(ranks, rank).count;
  for (const GhostPlanes& one : beside_own_planes(cut, ranks, rank, depth)) planes.push_back(one);
  for (const GhostPlanes& one : beside_own({second.ends, second.ghost[0], second.ranks, line_place,
                                            [&](int) { return second.own; }},
                                           beside))
    lines.push_back(one);
  std::vector<GhostBlock> blocks;
  for (std::size_t p = 0; p < planes.size(); ++p)
    for (std::size_t l = 0; l < lines.size(); ++l)
      if (p + l > 0)
        blocks.push_back({planes[p].of * second.ranks + lines[l].of, planes[p], lines[l]});
  return blocks;
}

void Wanted::Ghosts::deepen(const Ghosts& other) {
  for (std::size_t side = 0; side < 2; ++side) {
    depth[side] = std::max(depth[side], other.depth[side]);
    beside[side] = std::max(beside[side], other.beside[side]);
  }
}

ImageMask both(const ImageMask& first, const ImageMask& then) {
  if (first.keep == 0) return first;  // a fixed value stays
  return {first.keep & then.keep, (first.flip & then.keep) ^ then.flip};
}

}  // namespace vphi::runtime
