// Where ghosts come from (runtime/run/ranks/ghosts.hpp), against a lattice of numbered planes.
#include "runtime/run/ranks/ghosts.hpp"

#include <gtest/gtest.h>

namespace vphi::runtime {
namespace {

using program::Cut;

/// Numbers of planes in the whole lattice, as the memory of a rank holds them after the list is
/// followed; 1000 is added where the sign turns, -1: nothing has been filled.
std::vector<std::int64_t> filled(const Cut& cut, int ranks, int rank,
                                 const std::array<int, 2>& depth) {
  const auto own = cut.planes(ranks, rank);
  std::vector<std::int64_t> memory(
      static_cast<std::size_t>(own.count + cut.ghost[0] + cut.ghost[1]), -1);
  const auto at = [&](std::int64_t k) -> auto& { return memory.at(static_cast<std::size_t>(k)); };
  for (std::int64_t k = 0; k < own.count; ++k) at(cut.ghost[0] + k) = own.first + k;
  for (const GhostPlanes& planes : ghosts_of(cut, ranks, rank, depth)) {
    const auto other = cut.planes(ranks, planes.of);
    for (std::int64_t k = 0; k < planes.count; ++k) {
      const std::int64_t from = planes.from + k - cut.ghost[0];
      EXPECT_TRUE(from >= 0 && from < other.count) << "a ghost is copied, not an own plane";
      at(planes.to + k) = other.first + from + (planes.change == Cut::End::Antiperiodic ? 1000 : 0);
    }
  }
  return memory;
}

/// 10 planes in slabs of 2: three ranks have 2, 4 and 4.
TEST(Ghosts, ReachAroundTheLatticeOverSeveralRanks) {
  for (const Cut::End end : {Cut::End::Periodic, Cut::End::Antiperiodic}) {
    for (const std::array<int, 2> depth : {std::array{1, 1}, {2, 1}, {3, 5}, {0, 9}, {10, 10}}) {
      for (int rank = 0; rank < 3; ++rank) {
        Cut cut;
        cut.axis = 2, cut.whole = 10, cut.slab = 2;
        cut.own = cut.planes(3, rank).count;
        cut.ghost = {10, 10}, cut.ends = {end, end};
        const auto first = cut.planes(3, rank).first;
        const auto memory = filled(cut, 3, rank, depth);
        for (std::int64_t k = 0; k < static_cast<std::int64_t>(memory.size()); ++k) {
          const std::int64_t number = first + k - cut.ghost[0];  // before it goes around
          const bool wanted = k >= cut.ghost[0] - depth[0] && k < cut.ghost[0] + cut.own + depth[1];
          const bool turns = end == Cut::End::Antiperiodic && (number < 0 || number >= cut.whole);
          EXPECT_EQ(memory[static_cast<std::size_t>(k)],
                    wanted ? (number + cut.whole) % cut.whole + (turns ? 1000 : 0) : -1)
              << "rank " << rank << ", plane " << k << ", depth " << depth[0] << " " << depth[1];
        }
      }
    }
  }
}

}  // namespace
}  // namespace vphi::runtime
