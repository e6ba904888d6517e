// Initial values of a field from a file, resampled onto the lattice.
//
// A file contains means over cells. "path.h5:set" is a data set with the axes of the lattice,
// slowest first, as in snapshots. Axes of a value follow them, axes of a stack of fields precede
// them. The attribute `axes` may name data sets with the coordinates of the cells; without it the
// cells fill the box. A text file "path:column" has the coordinates x (y, z) of each cell in its
// first columns and the value in the named column (in one dimension, by default the second). A text
// file without coordinates fills the box: it has one number a row in one dimension, and a row for
// each y in two. Columns in front of the value that are the same in all rows are no coordinates. For bodies a text file has a row for each. A file in LIME records has spinors at
// sites, "path" or "path:number" (configurations/scidac.hpp).
//
// Resampling is conservative. Along each axis in turn each cell of the file becomes a linear
// function with limited slope (van Leer, J. Comput. Phys. 32 (1979) 101), and a site gets the mean
// over its own cell. This creates no new extrema and conserves totals, and a file with exactly the
// cells of the lattice is used bit for bit. Outside of the cells of the file its outermost values
// are used.
//
// Throws StartError where the file is missing, has gaps between cells, or contains a number that
// is not finite.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace vphi::io {

/// Means over cells, x fastest.
struct FieldFile {
  std::vector<std::int64_t> cells;  ///< of each axis, x first
  /// Edges of the cells along each axis, ascending; empty: they fill the box.
  std::vector<std::vector<double>> edges;
  std::vector<double> values;
  bool sites = false;  ///< the cells are sites, those of the lattice: nothing is resampled
};

/// Which numbers of a file to read; members as in program::RandomField.
struct FieldPlace {
  int dims = 1;
  int components = 1, entry = 0;      ///< real numbers in a value, and the one to read
  bool as_it_is = false;              ///< bodies or links: one number each, without coordinates
  std::vector<std::int64_t> leading;  ///< extents of the axes of a stack
};

/// Reads fields. `file` is named as in the model, with an absolute path. `members` are those to
/// read of a stack, the last of its axes fastest; a file without a stack has one. In a name with
/// "{}" they are the numbers of sets, one for each.
std::vector<FieldFile> read_fields(const std::string& file, const FieldPlace& place,
                                   const std::vector<std::int64_t>& members = {0});
FieldFile read_field(const std::string& file, int dims);

/// The field on a lattice of `extent` sites with spacing dx and the origin in the centre of the
/// box. StartError where all cells lie outside of it; `file`: for that message.
std::vector<double> resampled(const FieldFile& field, const std::array<std::int64_t, 4>& extent,
                              double dx, const std::string& file = "the file");

}  // namespace vphi::io
