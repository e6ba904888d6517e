// Ranks of one process whose devices reach each other's memory: CUDA devices with peer access.
//
// A kernel of one launch does a whole exchange. It sends what other ranks want into their inboxes,
// with a flag behind each piece, waits for the pieces that they send, and copies them to where they
// belong. It ends when all ranks have begun the exchange. The host takes no part: launches are
// queued and recorded as any other. Counts of exchanges in each device's memory tell which one is
// meant, and all ranks make the same exchanges in the same order.
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
  /// Null where a rank is another process, where its device cannot reach that of another rank, or
  /// where numbers that are sent on trial do not arrive.
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

  /// Planes or sums that one rank sends to another, in bytes of the arrays at both ends.
  struct Message {
    std::size_t array = 0;  ///< which of the wanted ones
    std::uint64_t from = 0, to = 0, bytes = 0;
    program::Cut::End change = program::Cut::End::Periodic;
    program::Precision precision = program::Precision::F64;
  };
  /// Memory of each rank into which others write: for each sender flags, then two halves.
  struct Inbox {
    BufferHandle buffer;
    std::size_t flags = 0;  ///< of a sender
    std::size_t half = 0;   ///< bytes
    std::vector<std::uint64_t> of_rank;
    std::size_t flag_bytes() const { return (4 * flags + 15) / 16 * 16; }
    std::uint64_t region(std::size_t of, std::size_t sender) const {
      return of_rank[of] + sender * (flag_bytes() + 2 * half);
    }
  };

  PeerMemory(const program::Program& of_this_rank, Device& device, comm::Comm& comm);
  /// Whether numbers of all ranks arrive here.
  bool works();
  Table& table(const Wanted& wanted, bool recorded);
  /// The words of a table, and how many pieces a block of the kernel could take each.
  std::vector<std::uint64_t> contents(const Wanted& wanted, std::size_t* pieces);
  std::vector<Message> messages(const Wanted& wanted, std::size_t from, std::size_t to,
                                const std::vector<std::uint64_t>& sums) const;
  void grow_inbox(std::size_t flags, std::size_t half);
  BufferHandle room_for(std::size_t bytes, Table& table);
  KernelHandle kernel(unsigned blocks);
  std::uint64_t address(BufferHandle buffer);

  const program::Program& program_;
  Device& device_;
  comm::Comm& comm_;
  BufferHandle counts_;
  std::vector<std::uint64_t> counts_of_;  ///< where those of each rank lie
  Inbox inbox_;
  std::vector<BufferHandle> old_inboxes_;  ///< smaller ones, of which tables still speak
  std::map<Key, Table> tables_;
  std::list<Key> unrecorded_;  ///< oldest first
  std::map<unsigned, KernelHandle> kernels_;
};

}  // namespace vphi::runtime
