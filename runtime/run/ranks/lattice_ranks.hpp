// What ranks that share a lattice do for each other between launches.
//
// Ghosts are filled with the planes of the neighbours, or with what lies beyond an end of the
// lattice (program::Cut), and the partial sums of all ranks are gathered. Both go through the
// memory of the host, for any device. Each call is made by all ranks, in the same order. Throws
// CommError, and what the device throws.
#pragma once

#include <array>
#include <vector>

#include "program/program.hpp"
#include "runtime/comm/comm.hpp"
#include "runtime/device/device.hpp"

namespace vphi::runtime {

class LatticeRanks {
 public:
  /// All three must outlive it.
  LatticeRanks(const program::Program& of_this_rank, Device& device, comm::Comm& comm);

  comm::Comm& comm() { return comm_; }
  /// Number of the first own plane in the whole lattice.
  std::int64_t first() const;
  /// Fills ghosts of a buffer, so many planes below and above.
  void fill(const program::Buffer& buffer, BufferHandle present, const std::array<int, 2>& depth);
  /// The partial sums of all ranks, one rank after the other, come to `all`.
  void gather(BufferHandle own, std::size_t bytes, BufferHandle all);

 private:
  /// What all ranks give, one rank after the other.
  comm::Bytes joined(std::span<const std::byte> own);

  const program::Program& program_;
  Device& device_;
  comm::Comm& comm_;
};

/// Of arrays that lie plane by plane: the own planes of a rank's memory, and back, with ghosts that
/// are zero.
comm::Bytes own_planes(const program::Program& of_rank, std::span<const std::byte> memory);
comm::Bytes with_ghosts(const program::Program& of_rank, std::span<const std::byte> own);

}  // namespace vphi::runtime
