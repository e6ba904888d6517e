// Slabs: the planes of a lattice whose sums are added by themselves.
//
// Sums have the same bits however many ranks share a lattice, because the tasks of a loop over rows
// (model/kernel.hpp) end where slabs end, and cuts lie between slabs. Slabs follow from the extents
// of the whole lattice alone. They lie across the slowest axis with more than one site. Where rows
// are the only axis, as of bodies, a plane is a site, and slabs are whole pieces of the row.
#pragma once

#include <array>
#include <cstdint>

namespace vphi::kernel {

/// The axis across which slabs lie.
int slab_axis(const std::array<std::int64_t, 4>& extent);
/// Sites of a row that a processor computes at once; rows end with a shorter piece. A single row of
/// many sites has pieces that divide it, where there are such.
std::int64_t piece_of_row(const std::array<std::int64_t, 4>& whole_extent);
/// Planes of a slab, a divisor of the extent along the axis and a multiple of `modulus`: all planes
/// where there is no smaller one.
std::int64_t planes_of_slab(const std::array<std::int64_t, 4>& extent, std::int64_t modulus = 1);
/// Slabs of the axis below `slab_axis`: the lines of a plane are added in so many runs of equal
/// length, between which the second axis may be cut. 1: a plane is added whole.
std::int64_t slabs_of_plane(const std::array<std::int64_t, 4>& extent);
/// Of tasks over the sites of one of `modulus` colours, whose sums the cuts of a second axis leave
/// whole: a slab has a multiple of so many. 1: the lines of its planes are not added in equal runs.
std::int64_t pieces_of_colours(const std::array<std::int64_t, 4>& extent, std::int64_t units,
                               std::int64_t modulus);
/// Tasks of the whole lattice, the same number for each slab, and a multiple of `pieces` where a
/// slab has so many rows. `units`: rows, or parts of rows, of the whole lattice; `wish`: how many
/// tasks are wanted, 0: by the number of sites.
std::int64_t tasks_of_rows(const std::array<std::int64_t, 4>& extent, std::int64_t units,
                           std::int64_t wish = 0, std::int64_t modulus = 1,
                           std::int64_t pieces = 1);

}  // namespace vphi::kernel
