// Ranks of one process whose devices read each other's memory: CUDA devices with peer access.
//
// A kernel of one launch does a whole exchange. It tells the other ranks that it has begun, so that
// all that was queued before it is done, and waits for them. It copies what is wanted out of their
// memory. It tells them that it is done, and ends when they are. So what follows may change what
// others have read. The host takes no part: launches are queued and recorded as any other. Counts
// of exchanges in each device's memory tell which one is meant, and all ranks make the same
// exchanges in the same order.
//
// No wait is without end: a kernel that waits for 20 s notes it and goes on, and `check` throws.
#pragma once

#include <array>
#include <list>
#include <map>
#include <memory>
#include <vector>

#include "program/program.hpp"
#include "runtime/comm/comm.hpp"
#include "runtime/device/device.hpp"
#include "runtime/run/ranks/ghosts.hpp"

namespace vphi::runtime {

class PeerMemory {
 public:
  /// Null where a rank is another process or its device cannot reach that of another rank.
  static std::unique_ptr<PeerMemory> open(const program::Program& of_this_rank, Device& device,
                                          comm::Comm& comm);
  ~PeerMemory();
  PeerMemory(const PeerMemory&) = delete;
  PeerMemory& operator=(const PeerMemory&) = delete;

  /// Makes the table of an exchange that recordings will contain.
  void prepare(const Wanted& wanted);
  void exchange(const Wanted& wanted);
  /// Waits for the device. Throws CommError where ranks have waited in vain for each other.
  void check();

 private:
  /// What one exchange copies, in the device's memory.
  struct Table {
    BufferHandle buffer;
    std::size_t room = 0;  ///< bytes
    unsigned blocks = 1;
    bool recorded = false;
  };
  /// Handles and depths: exchanges with the same key copy the same.
  using Key = std::vector<int>;

  PeerMemory(const program::Program& of_this_rank, Device& device, comm::Comm& comm);
  Table& table(const Wanted& wanted, bool recorded);
  std::vector<std::uint64_t> contents(const Wanted& wanted, unsigned* blocks);
  BufferHandle room_for(std::size_t bytes, Table& table);
  KernelHandle kernel(unsigned blocks);
  std::uint64_t address(BufferHandle buffer);

  const program::Program& program_;
  Device& device_;
  comm::Comm& comm_;
  BufferHandle counts_;
  std::vector<std::uint64_t> counts_of_;  ///< where those of each rank lie
  std::map<Key, Table> tables_;
  std::list<Key> unrecorded_;  ///< oldest first
  std::map<unsigned, KernelHandle> kernels_;
};

}  // namespace vphi::runtime
