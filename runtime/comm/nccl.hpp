// Messages between GPUs by NVIDIA's NCCL, in the order of a device's queue. Ranks are threads of
// one process or processes of their own.
//
// NCCL is opened at run time; nothing of it is linked. Each call is made by all ranks, in the same
// order. `exchange` is queued as a launch is, and recordings may contain it where all ranks have
// made an exchange with the same ranks before. Throws CommError with NCCL's own words.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/comm/comm.hpp"
#include "runtime/device/device.hpp"

namespace vphi::comm {

class Nccl {
 public:
  /// Bytes that go to one rank and come from it, at addresses of the device.
  struct Transfer {
    int rank = 0;
    std::uint64_t give = 0, give_bytes = 0, get = 0, get_bytes = 0;
  };
  /// What each rank gives comes to all of them, by rank.
  struct ToAll {
    std::uint64_t own = 0, all = 0;
    std::vector<std::uint64_t> bytes;  ///< of each rank
  };

  /// A communicator of all ranks. Null, with the reason in `why` of the ranks that know it, where a
  /// rank has no NCCL, no NVIDIA GPU, or one that another rank has too. `comm` and `device` must
  /// outlive it. After an abort of `comm` messages that wait end, and later ones throw.
  static std::unique_ptr<Nccl> open(Comm& comm, runtime::Device& device, std::string* why);
  virtual ~Nccl() = default;

  virtual void exchange(std::span<const Transfer> transfers, std::span<const ToAll> to_all) = 0;
  /// Throws where a connection has failed meanwhile.
  virtual void check() = 0;
};

/// "NCCL 2.28.9", or why there is none; for people.
std::string nccl_description();

}  // namespace vphi::comm
