// Ranks that mpirun or srun has started: each is a process that runs this command.
//
// Rank 0 runs as if it were alone, with a group that the others belong to. The others open a device
// and work; they print nothing, ignore the signals that rank 0 obeys, and end with its status.
#pragma once

#include <memory>
#include <string>
#include <vector>

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

/// What a process of a launcher can open for `--device`.
struct Choice {
  std::string machine;               ///< the same for processes of one machine
  std::vector<std::string> devices;  ///< "cuda:0": as this process numbers them; empty: processors
  std::vector<std::string> names;    ///< who they are, the same in every process
};
/// The device of a rank, given the choices of all of them: the first of its own that no earlier
/// rank of its machine has. Launchers let processes see all GPUs of their machine or some of them.
/// Throws DeviceError where none is left.
std::string device_of_rank(const std::string& device, std::size_t rank,
                           const std::vector<Choice>& choices);

}  // namespace vphi::tools
