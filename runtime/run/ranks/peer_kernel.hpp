// The kernels with which CUDA devices that share a lattice exchange ghosts and sums
// (peer_memory.hpp), or pack and unpack them for messages (nccl_exchange.hpp). They belong to the
// runtime, not to a model.
#pragma once

#include <cstdint>

#include "program/program.hpp"
#include "runtime/run/ranks/ghosts.hpp"

namespace vphi::runtime {

/// Its arguments are a table and the counts of its device.
///
/// Table, in words of 64 bits: the head below, the address of the counts of each rank, PeerPiece
/// for each piece that is sent, and for each that is received.
program::Kernel peer_kernel(unsigned blocks);

/// Their argument is a table: the head, PeerPiece for each piece that is sent, and for each that is
/// received. The first copies the sent pieces, the second the received ones; no flag is used.
program::Kernel pack_kernel(unsigned blocks);
program::Kernel unpack_kernel(unsigned blocks);

struct PeerHead {
  std::uint64_t sent = 0, received = 0;  ///< pieces
  std::uint64_t ranks = 1, rank = 0;
  std::uint64_t half = 0;  ///< bytes; odd exchanges use the second half of each inbox
};

/// `units` of `unit` bytes that follow one another, copied by one block: to = (from & keep) ^ flip,
/// on each word of 64 bits, or on the lower half of it for units of 4 bytes. What is sent goes to
/// an inbox of another rank, what is received comes from an inbox of this one; `flag` says which
/// exchange has filled it. Received without a flag: from this rank's own arrays.
struct PeerPiece {
  std::uint64_t from = 0, to = 0, flag = 0;
  std::uint32_t units = 0, unit = 16;
  ImageMask mask;
};
inline constexpr std::size_t kPeerBytes = 32768;  ///< of a piece, at most

/// Counts, in words of 32 bits: blocks that have begun this exchange, exchanges begun, whether a
/// wait was in vain, 0, and the exchange that each rank has begun.
inline constexpr std::size_t kPeerFailed = 2;
std::size_t peer_counts(int ranks);

}  // namespace vphi::runtime
