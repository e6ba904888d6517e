// Exchanges through the memory of the host: for any devices, and between any ranks.
//
// A rank copies what others want into page-locked memory of its own, all of it with one wait. Ranks
// that are threads of one process then copy from there into their own devices; between processes it
// goes as messages. What is copied to a device is waited for in the next exchange alone, so a step
// waits once for each exchange: for the launches whose results are wanted.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "program/program.hpp"
#include "runtime/comm/comm.hpp"
#include "runtime/device/device.hpp"
#include "runtime/run/ranks/ghosts.hpp"

namespace vphi::runtime {

class HostExchange {
 public:
  /// All three must outlive it.
  HostExchange(const program::Program& of_this_rank, Device& device, comm::Comm& comm)
      : program_(of_this_rank), device_(device), comm_(comm) {}

  /// Called by all ranks, in the same order. What is launched next finds the ghosts filled.
  void exchange(const Wanted& wanted);

 private:
  /// Bytes of an array that lie together there and in memory of the host.
  struct Piece {
    BufferHandle array;
    std::uint64_t at = 0;    ///< in the array
    std::size_t staged = 0;  ///< in memory of the host
    std::size_t bytes = 0;
    ImageMask mask;  ///< applied by the rank that gives it
  };
  /// What an exchange copies. The own memory has what each rank gets, by rank, and then the own
  /// sums.
  struct Plan {
    std::vector<Piece> give;
    std::vector<std::vector<Piece>> take;  ///< by the rank that gives it
    std::vector<std::size_t> to, from;     ///< bytes of arrays, by rank
    std::size_t arrays = 0, given = 0;     ///< bytes of arrays, and with sums
    std::size_t arrays_taken = 0, taken = 0;
    bool messages = false, sums = false;  ///< the same on all ranks
  };
  /// Page-locked memory that is kept, and grows.
  struct Block {
    std::shared_ptr<std::byte> memory;
    std::size_t size = 0;
  };

  const Plan& plan(const Wanted& wanted);
  Plan plan_of(const Wanted& wanted);
  void take_sums(const Wanted& wanted, Plan& plan, const std::vector<std::size_t>& begins);
  std::span<std::byte> room(Block& block, std::size_t bytes);
  void by_messages(const Plan& plan, std::span<const std::byte> given);
  void put(const std::vector<Piece>& pieces, std::span<const std::byte> from);

  const program::Program& program_;
  Device& device_;
  comm::Comm& comm_;
  std::map<std::vector<int>, Plan> plans_;
  /// In turn: other ranks may still copy from the one of the exchange before.
  std::array<Block, 2> given_;
  std::size_t turn_ = 0;
  Block taken_;
};

}  // namespace vphi::runtime
