// Ranks whose devices reach each other's memory: CUDA devices of one machine with peer access, of
// one process or of several, which open each other's memory by its IPC handle.
//
// A kernel of one launch does a whole exchange. It sends what other ranks want into their inboxes,
// with a flag behind each piece, waits for the pieces that they send, and copies them to where they
// belong. It ends when all ranks have begun the exchange. The host takes no part: launches are
// queued and recorded as any other. Counts of exchanges in each device's memory tell which one is
// meant, and all ranks make the same exchanges in the same order.
//
// No wait is without end: a kernel that waits for 20 s notes it and goes on, and `check` throws.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "program/program.hpp"
#include "runtime/comm/comm.hpp"
#include "runtime/device/device.hpp"
#include "runtime/run/ranks/device_exchange.hpp"

namespace vphi::runtime {

class PeerMemory : public DeviceExchange {
 public:
  /// Null where a rank is on another machine, where its device cannot reach that of another rank,
  /// or where numbers that are sent on trial do not arrive.
  static std::unique_ptr<PeerMemory> open(const program::Program& of_this_rank, Device& device,
                                          comm::Comm& comm);
  ~PeerMemory() override;

  void check() override;
  std::string way() const override { return "from device to device"; }

 private:
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

  PeerMemory(const program::Program& of_this_rank, Device& device, comm::Comm& comm,
             std::vector<bool> same_process);
  Contents contents(const Wanted& wanted) override;
  void compile(unsigned blocks) override;
  void run(const Table& table) override;
  /// `sums`: bytes that each rank gives, [rank][number].
  std::vector<Message> messages(const Wanted& wanted, std::size_t from, std::size_t to,
                                const std::vector<std::uint64_t>& sums) const;
  void grow_inbox(std::size_t flags, std::size_t half);
  KernelHandle kernel(unsigned blocks);
  /// Where this buffer of each rank lies for kernels of this device; 0: out of reach.
  std::vector<std::uint64_t> addresses(BufferHandle buffer);

  std::vector<bool> same_process_;  ///< whether each rank is a thread of this process
  BufferHandle counts_;
  std::vector<std::uint64_t> counts_of_;  ///< where those of each rank lie
  Inbox inbox_;
  std::vector<BufferHandle> old_inboxes_;  ///< smaller ones, of which tables still speak
  std::map<unsigned, KernelHandle> kernels_;
};

}  // namespace vphi::runtime
