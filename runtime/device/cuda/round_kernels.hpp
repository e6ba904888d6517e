// Two small kernels of graphs that repeat a part of themselves (Device::record_rounds): one decides
// whether there is another round, one takes the notes after the last.
//
// The driver compiles them, because it alone knows how a kernel sets the condition of a graph.
#pragma once

#include "runtime/device/cuda/cuda_api.hpp"
#include "runtime/device/device.hpp"

namespace vphi::runtime {

class RoundKernels {
 public:
  /// Compiles and loads them in the current context.
  RoundKernels(const cu::Api& api, int major, int minor);
  ~RoundKernels();
  RoundKernels(const RoundKernels&) = delete;
  RoundKernels& operator=(const RoundKernels&) = delete;

  /// False where NVRTC is lacking, or writes what the driver does not read.
  bool ready() const { return again_ != nullptr && note_ != nullptr; }
  /// After each body of `of_body` rounds. `count`: 32 bits that are zero before the first and after
  /// the last.
  cu::Result again(cu::GraphCondition condition, cu::Pointer count, cu::Pointer scalars,
                   const Rounds& rounds, unsigned of_body, cu::Stream stream) const;
  cu::Result note(cu::Pointer notes, cu::Pointer scalars, const Rounds& rounds,
                  cu::Stream stream) const;

 private:
  const cu::Api& api_;
  cu::Module module_ = nullptr;
  cu::Function again_ = nullptr, note_ = nullptr;
};

}  // namespace vphi::runtime
