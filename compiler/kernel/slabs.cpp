#include "compiler/kernel/slabs.hpp"

#include <algorithm>

namespace vphi::kernel {
namespace {

constexpr std::int64_t kSitesPerTask = 8192, kMostTasks = 512;
constexpr std::int64_t kSitesPerSlab = 1024;  // a task of fewer sites does little else than begin
constexpr std::int64_t kFewestSlabs = 4;      // even of a small lattice
constexpr std::int64_t kShortestPiece = 1024, kLongestPiece = 2048;  // sites a row's buffer holds
constexpr std::int64_t kVector = 8;  // pieces begin at multiples of it: vectors, strips of noise

std::int64_t sites_of(const std::array<std::int64_t, 4>& extent) {
  return extent[0] * extent[1] * extent[2] * extent[3];
}

/// Sites of a slab of a single row: whole pieces, as many as a task has where there are enough, and
/// no more slabs than tasks.
std::int64_t slab_of_row(std::int64_t sites, std::int64_t modulus) {
  const std::int64_t piece = piece_of_row({sites, 1, 1, 1});
  if (sites % piece != 0 || piece % kVector != 0) return sites;
  const std::int64_t least =
      std::max(std::min(kSitesPerTask, sites / kFewestSlabs), sites / kMostTasks);
  std::int64_t slab = piece;
  while (slab < sites && (slab < least || sites % slab != 0 || slab % modulus != 0)) slab += piece;
  return slab;
}

}  // namespace

int slab_axis(const std::array<std::int64_t, 4>& extent) {
  int axis = 3;
  while (axis > 0 && extent[static_cast<std::size_t>(axis)] == 1) --axis;
  return axis;
}

std::int64_t piece_of_row(const std::array<std::int64_t, 4>& extent) {
  const std::int64_t sites = extent[0], longest = std::min(sites, kLongestPiece);
  if (slab_axis(extent) != 0 || sites < kFewestSlabs * kShortestPiece) return longest;
  std::int64_t piece = std::min(longest, sites / kFewestSlabs) / kVector * kVector;
  while (piece >= kShortestPiece / 2 && sites % piece != 0) piece -= kVector;
  return piece >= kShortestPiece / 2 ? piece : longest;
}

std::int64_t planes_of_slab(const std::array<std::int64_t, 4>& extent, std::int64_t modulus) {
  const int axis = slab_axis(extent);
  const std::int64_t planes = extent[static_cast<std::size_t>(axis)];
  if (axis == 0) return slab_of_row(planes, modulus);
  const std::int64_t plane = sites_of(extent) / planes;
  std::int64_t wish = std::max<std::int64_t>(
      1, std::min(planes / kFewestSlabs, (kSitesPerSlab + plane - 1) / plane));
  while (wish > 1 && planes % wish != 0) --wish;
  std::int64_t slab = wish;
  while (slab < planes && (planes % slab != 0 || slab % modulus != 0)) slab += wish;
  return slab;
}

std::int64_t slabs_of_plane(const std::array<std::int64_t, 4>& extent) {
  const int axis = slab_axis(extent);
  if (axis < 2 || planes_of_slab(extent) != 1) return 1;
  const std::int64_t lines = extent[static_cast<std::size_t>(axis - 1)];
  const std::int64_t plane = sites_of(extent) / extent[static_cast<std::size_t>(axis)];
  for (std::int64_t slabs = kFewestSlabs; slabs > 1; slabs /= 2)
    if (lines % slabs == 0 && plane / slabs >= kSitesPerSlab) return slabs;
  return 1;
}

std::int64_t pieces_of_colours(const std::array<std::int64_t, 4>& extent, std::int64_t units,
                               std::int64_t modulus) {
  const std::int64_t planes = planes_of_slab(extent, modulus);
  const std::int64_t slabs = extent[static_cast<std::size_t>(slab_axis(extent))] / planes;
  const std::int64_t pieces = slabs_of_plane(extent);
  return pieces > 1 && units % (slabs * pieces * planes) == 0 ? pieces * planes : 1;
}

std::int64_t tasks_of_rows(const std::array<std::int64_t, 4>& extent, std::int64_t units,
                           std::int64_t wish, std::int64_t modulus, std::int64_t pieces) {
  const auto axis = static_cast<std::size_t>(slab_axis(extent));
  std::int64_t slabs = extent[axis] / planes_of_slab(extent, modulus);
  if (units % slabs != 0) slabs = 1;
  const std::int64_t most = std::min(units / slabs, std::max<std::int64_t>(1, kMostTasks / slabs));
  // a plane has whole numbers of tasks between the cuts of a second axis
  if (wish == 0 && modulus == 1 && slabs == extent[axis]) pieces = slabs_of_plane(extent);
  if (units % (slabs * pieces) != 0) pieces = 1;
  if (wish == 0) wish = sites_of(extent) / kSitesPerTask;
  const std::int64_t of_slab = std::clamp<std::int64_t>(wish / slabs, 1, most);
  return slabs * ((of_slab + pieces - 1) / pieces * pieces);
}

}  // namespace vphi::kernel
