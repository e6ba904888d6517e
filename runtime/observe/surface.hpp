// The surface on which a value given at the sites of a lattice has a level, in one to four
// dimensions.
//
// The method is that of Cornelius (P. Huovinen, H. Petersen, Eur. Phys. J. A 48, 171 (2012)).
// Sites are the corners of cells, and a corner is high where the value is above the level.
// Crossings on the edges of a cell are found by linear interpolation. In a square they are joined
// to lines; where all four edges have one, the mean of the corners decides whether the high corners
// are joined. The lines in the faces of a cube form closed polygons, and the polygons in the eight
// cubes of a cell of four dimensions closed polyhedra. Each of these is a patch, divided into
// triangles or tetrahedra around its mean point, and a separate element of the surface.
//
// Cells with a common face find the same lines in it, so the elements have no gaps: the normals of
// a closed surface add up to zero but for rounding.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace vphi::observe {

/// Sites in a box, the first axis fastest.
struct Cells {
  int dims = 3;  ///< 1 to 4
  std::array<std::int64_t, 4> extent{1, 1, 1, 1};
  std::array<double, 4> spacing{1, 1, 1, 1};
  std::array<double, 4> first{};  ///< coordinates of site 0
  /// Whether the last site of an axis is the neighbour of the first. The cells between them lie
  /// beyond the last site. Axes of one site count as joined.
  std::array<bool, 4> joined{};
  int bounded = 4;  ///< the ends of this many axes, the first ones, count in `Surface::at_edge`
};

struct Surface {
  /// Numbers of each element: its place, its normal, and the carried values. The place is the
  /// centroid. The normal points from high to low, its components count along the axes of the box,
  /// and its length is the length, area or volume of the element; in one dimension it is 1 or -1.
  /// Carried values are interpolated linearly along each axis. Elements have the order of their
  /// cells.
  std::vector<double> rows;
  std::int64_t elements = 0;
  std::int64_t at_edge = 0;  ///< elements whose cell touches an end of an axis that is not joined
};

/// `values`: one for each site; `carried`: arrays of the same size. The result does not depend on
/// the number of threads. NaN counts as low.
Surface surface_of(const Cells& cells, std::span<const double> values, double level,
                   std::span<const std::vector<double>> carried, int threads);

}  // namespace vphi::observe
