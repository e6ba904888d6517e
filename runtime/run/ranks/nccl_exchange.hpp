// Ranks, each with a GPU of its own, whose planes and sums go by NCCL (comm/nccl.hpp): between
// machines too, and where GPUs do not reach each other's memory.
//
// An exchange is three launches: planes are packed, one message goes to each neighbour, and what
// has come is unpacked. Sums go from where they are to where they are wanted.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/comm/nccl.hpp"
#include "runtime/run/ranks/device_exchange.hpp"

namespace vphi::runtime {

class NcclExchange : public DeviceExchange {
 public:
  /// Null, with the reason in `why` of the ranks that know it, where a rank has no NCCL or no GPU
  /// of its own, or where numbers that are sent on trial do not arrive.
  static std::unique_ptr<NcclExchange> open(const program::Program& of_this_rank, Device& device,
                                            comm::Comm& comm, std::string* why);
  NcclExchange(const program::Program& of_this_rank, Device& device, comm::Comm& comm,
               std::unique_ptr<comm::Nccl> nccl)
      : DeviceExchange(of_this_rank, device, comm), nccl_(std::move(nccl)) {}
  ~NcclExchange() override;

  void check() override;
  std::string way() const override;

 private:
  Contents contents(const Wanted& wanted) override;
  void compile(unsigned blocks) override;
  void run(const Table& table) override;
  void grow(std::size_t bytes);

  struct Kernels {
    KernelHandle pack, unpack;
  };
  std::unique_ptr<comm::Nccl> nccl_;
  BufferHandle outbox_, inbox_;
  std::size_t room_ = 0;           ///< bytes of each of both
  std::vector<BufferHandle> old_;  ///< smaller ones, of which tables still speak
  std::map<unsigned, Kernels> kernels_;
};

}  // namespace vphi::runtime
