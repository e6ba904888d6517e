// The exchange of configurations (exchange.hpp) by kernels of a CUDA device: nothing goes to the
// host, and many sweeps with exchanges between them are queued at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "program/program.hpp"
#include "runtime/device/device.hpp"

namespace vphi::runtime {

/// Where the scalars of an instance lie, in numbers.
struct ScalarOrder {
  std::int64_t of_instance = 0, of_slot = 1;
};

class ExchangeKernels {
 public:
  /// Program and device outlive it.
  ExchangeKernels(const program::Program& program, Device& device, ScalarOrder order);
  ~ExchangeKernels();
  ExchangeKernels(const ExchangeKernels&) = delete;
  ExchangeKernels& operator=(const ExchangeKernels&) = delete;

  /// What of a buffer goes to the other instance.
  struct Moved {
    BufferHandle memory;
    std::size_t bytes = 0;  ///< of an instance, a multiple of 4
  };
  /// Queues the exchange after step number `step`; the slots of Program::exchange are filled.
  void queue(std::int64_t step, BufferHandle scalars, std::span<const Moved> moved);

 private:
  BufferHandle length(std::size_t bytes);
  void set_step(std::int64_t step);

  const program::Program& program_;
  Device& device_;
  std::int64_t next_ = -1;  ///< the step number in the table
  BufferHandle table_, flags_;
  std::map<std::size_t, BufferHandle> lengths_;  ///< by bytes of an instance
  KernelHandle decide_, move_;
};

}  // namespace vphi::runtime
