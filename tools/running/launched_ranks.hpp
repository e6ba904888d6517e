// Ranks that mpirun or srun has started: each is a process that runs this command.
//
// Rank 0 runs as if it were alone, with a group that the others belong to. The others open a device
// and work; they print nothing, ignore the signals that rank 0 obeys, and end with its status.
#pragma once

#include <memory>
#include <string>

#include "runtime/run/ranks/rank_group.hpp"

namespace vphi::tools {

class LaunchedRanks {
 public:
  /// Null where this process was started alone. Throws RunError E0861 on rank 0 where the ranks
  /// cannot reach each other; the other ranks then end without a word.
  static std::unique_ptr<LaunchedRanks> find();

  bool first() const { return comm_->rank() == 0; }
  int size() const { return comm_->size(); }
  /// Rank 0: all open what `--device` means for their place on their machine. Once.
  std::unique_ptr<runtime::RankGroup> group(const std::string& device);
  /// Rank 0, when its group is gone: what the others end with.
  void end(int status);
  /// The others: returns that status.
  int work();

 private:
  explicit LaunchedRanks(std::shared_ptr<comm::Comm> comm) : comm_(std::move(comm)) {}

  std::shared_ptr<comm::Comm> comm_;
  bool grouped_ = false;
};

/// Of this process, where it is the first of several; null elsewhere.
std::unique_ptr<LaunchedRanks>& first_of_launched();
/// Rank 0, when everything is printed: the others end with this status. A launcher stops what still
/// runs when the first of its processes ends with a failure. Nothing where this process is alone.
void end_launched_ranks(int status) noexcept;

/// The device of a rank that is number `place` of `beside` on its machine, and how many of these
/// share its processors. Throws DeviceError where they are more than its GPUs.
std::string device_of_place(const std::string& device, int place, int beside);

}  // namespace vphi::tools
