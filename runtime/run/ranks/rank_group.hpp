// The ranks of a run, seen from the first of them.
//
// Rank 0 runs the time loop, reads and writes files and talks to the user. The others are workers:
// each has a device and a Session of its own and does what rank 0 orders (worker.hpp). Nothing
// above the Session knows of them. An order is a row of bytes; one that is answered waits for all
// ranks. What goes wrong on another rank is thrown here at the next answer, as the same type of
// error, with the rank and its device named.
//
// A RankGroup belongs to the thread that made it. At its end the other ranks end too.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/comm/comm.hpp"
#include "runtime/comm/team.hpp"
#include "runtime/device/device.hpp"
#include "runtime/run/ranks/rank_info.hpp"
#include "runtime/run/state/packing.hpp"

namespace vphi::runtime {

using OpenDevice = std::function<std::unique_ptr<Device>()>;

class RankGroup {
 public:
  /// `comm` of rank 0. Opens its device while the others open theirs. Throws what goes wrong with
  /// one of them.
  RankGroup(std::shared_ptr<comm::Comm> comm, const OpenDevice& open);
  virtual ~RankGroup();
  RankGroup(const RankGroup&) = delete;
  RankGroup& operator=(const RankGroup&) = delete;

  int size() const { return comm_->size(); }
  comm::Comm& comm() { return *comm_; }
  Device& device() { return *device_; }
  std::vector<RankInfo>& ranks() { return ranks_; }
  /// Of the rank that has least.
  std::size_t memory_free() const;
  /// Threads of the host's part for each rank of this machine.
  int threads() const;

  /// An order that is not answered.
  void tell(const Packer& order);
  /// Entry r goes to rank r, which waits for it after its order; entry 0 comes back.
  comm::Bytes deal(const std::vector<comm::Bytes>& all) { return comm_->deal(all); }
  /// An order that all answer; `own` is what this rank does meanwhile. By rank; entry 0 is empty.
  std::vector<comm::Bytes> ask(const Packer& order, const std::function<void()>& own);

 protected:
  /// The other ranks end. What owns their threads calls it before it waits for them.
  void dismiss() noexcept;

 private:
  std::shared_ptr<comm::Comm> comm_;
  std::unique_ptr<Device> device_;
  std::vector<RankInfo> ranks_;
  bool dismissed_ = false;
};

/// Ranks as threads of this process, one for each opener; the first is for the calling thread.
std::unique_ptr<RankGroup> open_team(const std::vector<OpenDevice>& open);

/// Threads that a rank may use where `ranks` share this machine.
int threads_of_rank(int ranks);

}  // namespace vphi::runtime
