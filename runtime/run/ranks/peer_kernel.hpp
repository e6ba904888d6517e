// The kernel with which CUDA devices that share a lattice exchange ghosts and sums
// (peer_memory.hpp). It belongs to the runtime, not to a model.
#pragma once

#include <cstdint>

#include "program/program.hpp"

namespace vphi::runtime {

/// Its arguments are a table and the counts of its device.
///
/// Table, in words of 64 bits: number of pieces, number of ranks, this rank, 0, the address of the
/// counts of each rank, and PeerPiece for each piece.
program::Kernel peer_kernel(unsigned blocks);

/// `units` of `unit` bytes that follow one another, copied by one block: to = (from & keep) ^ flip,
/// on each word of 64 bits, or on the lower half of it for units of 4 bytes.
struct PeerPiece {
  std::uint64_t from = 0, to = 0;
  std::uint32_t units = 0, unit = 16;
  std::uint64_t keep = ~std::uint64_t{0}, flip = 0;
};
inline constexpr std::uint32_t kPeerUnits = 2048;  ///< of a piece, at most

/// Counts, in words of 32 bits: exchanges done, blocks that are done, whether a wait was in vain,
/// 0, the exchange that each rank has begun, and the one that each has ended.
inline constexpr std::size_t kPeerFailed = 2;
std::size_t peer_counts(int ranks);

}  // namespace vphi::runtime
