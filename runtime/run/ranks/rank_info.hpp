// What a rank tells of itself; plain data, for a result and its report.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace vphi::runtime {

struct RankInfo {
  std::string device, name;     ///< "cuda:1", "NVIDIA H200"
  std::string host;             ///< its machine
  std::size_t memory_free = 0;  ///< for this rank, before the run
  std::size_t memory_held = 0;  ///< the most that its session has held
  std::int64_t instances = 0;   ///< of a batch
  std::int64_t planes = 0;      ///< of a lattice that ranks share; 0: they share instances
  double busy = 0;              ///< seconds in steps
  std::string planes_go;        ///< "from device to device"; empty: none has gone
};

}  // namespace vphi::runtime
