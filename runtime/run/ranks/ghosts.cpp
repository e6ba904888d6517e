#include "runtime/run/ranks/ghosts.hpp"

namespace vphi::runtime {

using program::Cut;

std::vector<GhostPlanes> ghosts_of(const Cut& cut, int ranks, int rank,
                                   const std::array<int, 2>& depth) {
  std::vector<GhostPlanes> list;
  const std::int64_t first = cut.ghost[0];
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
  if (image(below)) {
    images(below, first, -1, depth[0]);
  } else if (depth[0] > 0) {
    const int of = (rank + ranks - 1) % ranks;
    list.push_back({of, first + own(of) - depth[0], first - depth[0], depth[0], below});
  }
  if (image(above)) {
    images(above, first + own(rank) - 1, 1, depth[1]);
  } else if (depth[1] > 0) {
    list.push_back({(rank + 1) % ranks, first, first + own(rank), depth[1], above});
  }
  return list;
}

}  // namespace vphi::runtime
