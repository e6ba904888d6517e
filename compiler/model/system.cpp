#include "compiler/model/system.hpp"

namespace vphi::physics {

std::int64_t Lattice::sites() const { return extent[0] * extent[1] * extent[2] * extent[3]; }

std::int64_t System::instances() const {
  std::int64_t all = 1;
  for (const Axis& axis : axes) all *= static_cast<std::int64_t>(axis.values.size());
  return all;
}

}  // namespace vphi::physics
