// What ranks that share a lattice do for each other between launches.
//
// Ghosts are filled with the planes of the neighbours, or with what lies beyond an end of the
// lattice (ghosts.hpp), and the partial sums of all ranks are gathered. There are three ways: where
// the devices reach each other's memory, a kernel sends what is wanted (peer_memory.hpp); between
// other NVIDIA GPUs NCCL does (nccl_exchange.hpp); and everything can go through the memory
// of the host, for any device (host_exchange.hpp). The first that works is taken, or the one that
// VPHI_EXCHANGE names: peers, nccl or host. Each call is made by all ranks, in the same order.
// Throws CommError, DeviceError where the way that was named cannot be gone, and what the device
// throws.
#pragma once

#include <memory>
#include <string>

#include "program/program.hpp"
#include "runtime/comm/comm.hpp"
#include "runtime/device/device.hpp"
#include "runtime/run/ranks/ghosts.hpp"
#include "runtime/run/ranks/host_exchange.hpp"

namespace vphi::runtime {

class DeviceExchange;

class LatticeRanks {
 public:
  /// All three must outlive it. No other rank hears of it yet.
  LatticeRanks(const program::Program& of_this_rank, Device& device, comm::Comm& comm);
  ~LatticeRanks();

  comm::Comm& comm() { return comm_; }
  /// Number of the first own plane in the whole lattice, and of the first own line of a plane.
  std::int64_t first() const;
  std::int64_t first_line() const;

  /// Queues what fills the ghosts and gathers the sums.
  void exchange(const Wanted& wanted);
  /// Whether `exchange` may be part of a recording of the device. Each such exchange is made known
  /// by `prepare` before the recording begins.
  bool recorded();
  void prepare(const Wanted& wanted);
  /// Returns when all ranks have come here, where devices wait for each other: no rank lets the
  /// others wait while it compiles, allocates or frees memory.
  void meet();
  /// After the device has ended its work: throws where ranks have waited in vain for each other.
  void check();
  /// Which way the planes go, for people: "from device to device"; empty before the first exchange.
  std::string way() const;

 private:
  /// Null: through the memory of the host.
  DeviceExchange* between_devices();
  std::unique_ptr<DeviceExchange> choose();

  const program::Program& program_;
  Device& device_;
  comm::Comm& comm_;
  std::unique_ptr<DeviceExchange> between_;
  HostExchange through_host_;
  bool chosen_ = false;
};

/// How many planes each rank has; ranks that share planes have the same.
std::vector<std::int64_t> planes_by_rank(const program::Program& of_rank, int ranks);

/// Of arrays that lie plane by plane: the own planes of a rank's memory, or its own lines of them,
/// and back, with ghosts that are zero.
comm::Bytes own_planes(const program::Program& of_rank, std::span<const std::byte> memory);
comm::Bytes with_ghosts(const program::Program& of_rank, std::span<const std::byte> own);
/// The own planes or lines of a rank out of those of the whole lattice, and back into their place.
comm::Bytes share_of_whole(const program::Cut& cut, int ranks, int rank,
                           std::span<const std::byte> whole);
void put_share(const program::Cut& cut, int ranks, int rank, std::span<const std::byte> own,
               std::span<std::byte> whole);

/// Sites that lie side by side, of the own ones of a rank.
struct OwnSites {
  std::size_t in_memory = 0, in_whole = 0, count = 0;
};
/// Those among `count` sites of the whole lattice, from number `first` on, in their order.
/// `program`: of any rank.
std::vector<OwnSites> own_sites_among(const program::Program& program, int ranks, int rank,
                                      std::size_t first, std::size_t count);

}  // namespace vphi::runtime
