// Sweeps whose sites compute the same values as their neighbours, as two sweeps: one that stores
// these values, and one that reads them (compiler/kernel/neighbour_values.hpp).
//
// All kernels that are divided use the same memory, because the values are read by the next launch
// alone. The first sweep is divided again where its own sites share values.
#pragma once

#include <cstdint>
#include <functional>

#include "compiler/model/plan.hpp"

namespace vphi::schedule {

/// Bytes that a launch moves from which a sweep is divided.
inline constexpr std::int64_t kLeastBytesOfNeighbourValues = 1 << 22;

/// What a device makes of a kernel.
enum class Walked {
  Sites,  ///< site by site: values of neighbours are computed again
  March,  ///< a march (emit/walks/march.hpp)
  Lines,  ///< along lines: neighbours share their values (kernel/line.hpp)
};

/// Divides sweeps of steps; a remark names them. The last of the sweeps keeps the number of the
/// kernel, its name, its sums and what runs at its end. A march is divided only where it stays one.
void store_neighbour_values(Plan& plan, const std::function<Walked(const kernel::Kernel&)>& walked,
                            std::int64_t least_bytes = kLeastBytesOfNeighbourValues);

}  // namespace vphi::schedule
