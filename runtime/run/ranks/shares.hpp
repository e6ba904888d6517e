// Which instances of a batch each rank moves.
//
// Instances are dealt out in their order, numbers that differ by one at most. All ranks run one
// program, made for `most` instances at once: a rank with fewer computes a neighbour's instance
// too, which has the same numbers there and is not shown.
#pragma once

#include <algorithm>
#include <cstdint>

namespace vphi::runtime {

struct Share {
  std::int64_t first = 0, count = 0;  ///< of the batch: those that this rank shows
  std::int64_t start = 0;             ///< the first that it computes; `most` of them
  /// Place of the first shown one among those that are computed.
  std::int64_t hidden() const { return first - start; }
};

/// Instances that each rank computes at once.
inline std::int64_t most_of(std::int64_t batch, int ranks) { return (batch + ranks - 1) / ranks; }

inline Share share_of(std::int64_t batch, int ranks, int rank) {
  Share share;
  share.first = batch * rank / ranks;
  share.count = batch * (rank + 1) / ranks - share.first;
  share.start = std::min(share.first, batch - most_of(batch, ranks));
  return share;
}

}  // namespace vphi::runtime
