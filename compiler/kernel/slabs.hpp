// Slabs: the planes of a lattice whose sums are added by themselves.
//
// Sums have the same bits however many ranks share a lattice, because the tasks of a loop over rows
// (model/kernel.hpp) end where slabs end, and cuts lie between slabs. Slabs follow from the extents
// of the whole lattice alone. They lie across the slowest axis with more than one site. A lattice
// whose rows are its only axis is one slab.
#pragma once

#include <array>
#include <cstdint>

namespace vphi::kernel {

/// The axis across which slabs lie. 0: the lattice is one slab.
int slab_axis(const std::array<std::int64_t, 4>& extent);
/// Planes of a slab, a divisor of the extent along the axis and a multiple of `modulus`: all planes
/// where there is no smaller one.
std::int64_t planes_of_slab(const std::array<std::int64_t, 4>& extent, std::int64_t modulus = 1);
/// Tasks of the whole lattice, the same number for each slab. `units`: rows, or parts of rows, of
/// the whole lattice; `wish`: how many tasks are wanted, 0: by the number of sites.
std::int64_t tasks_of_rows(const std::array<std::int64_t, 4>& extent, std::int64_t units,
                           std::int64_t wish = 0, std::int64_t modulus = 1);

}  // namespace vphi::kernel
