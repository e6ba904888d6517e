// What a rank tells of itself; plain data, for a result and its report.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace vphi::runtime {

struct RankInfo {
  std::string device, name;  ///< "cuda:1", "NVIDIA H200"
  std::string host;          ///< its machine
  bool processor = false;
  bool shared = false;          ///< other ranks have the same device
  std::size_t memory_free = 0;  ///< for this rank, before the run
  std::size_t memory_held = 0;  ///< the most that its session has held
  std::int64_t instances = 0;   ///< of a batch
  std::int64_t planes = 0;      ///< of a lattice that ranks share; 0: they share instances
  std::int64_t lines = 0;       ///< of each plane, where a second axis is cut too
  bool row = false;             ///< the lattice is a row, as of bodies: planes are sites
  double busy = 0;              ///< seconds in steps
  /// Seconds of a step at the limits of the GPUs that cut_model knows by name; empty: not modelled.
  std::string modelled_for;
  double modelled_kernels = 0, modelled_exchanges = 0;
  std::string planes_go;  ///< "from device to device"; empty: none has gone

  /// VPHI_SHARED_GPU=1: the speed is not that of GPUs of their own.
  bool on_shared_gpu() const { return shared && !processor; }
};

}  // namespace vphi::runtime
