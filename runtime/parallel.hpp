// `parallel_ranges` divides [0, count) among threads, one piece each.
//
// For the host's part of a run (initial values, transforms): a few calls of milliseconds each, so
// threads are started and joined in each call. The body must not throw.
#pragma once

#include <algorithm>
#include <cstdint>
#include <thread>
#include <vector>

namespace vphi::runtime {

/// body(begin, end) on each piece; the calling thread takes the first.
template <class Body>
void parallel_ranges(std::int64_t count, int threads, const Body& body) {
  const std::int64_t pieces =
      std::clamp<std::int64_t>(threads, 1, std::max<std::int64_t>(1, count));
  const auto start = [&](std::int64_t piece) { return count * piece / pieces; };
  std::vector<std::jthread> others;
  others.reserve(static_cast<std::size_t>(pieces - 1));
  for (std::int64_t piece = 1; piece < pieces; ++piece)
    others.emplace_back([&, piece] { body(start(piece), start(piece + 1)); });
  body(start(0), start(1));
}

}  // namespace vphi::runtime
