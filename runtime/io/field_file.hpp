// Initial values of a field from a file, resampled onto the lattice.
//
// A file holds means over cells. "path.h5:set" is a set with the axes of the lattice, slowest
// first, as snapshots are written; behind them those of a value, in front of them those of a stack.
// Where its attribute `axes` names sets of coordinates its cells lie there, otherwise they fill the
// box. A text "path:column" holds the coordinates x (y, z) of each cell in its first columns and
// the value in the one named (in one dimension the second where none is named); a text without
// coordinates, one number a row for a line of sites and a row for each y in the plane, fills the
// box. Of bodies a text has a row for each.
//
// Resampling is conservative. Along each axis in turn each cell of the file becomes a linear
// function with limited slope (van Leer, J. Comput. Phys. 32 (1979) 101), and a site gets the mean
// over its own cell. No new extremes arise, totals are conserved, and a file with the lattice's own
// cells is taken bit for bit. Beyond the cells of the file its outermost values continue.
//
// Throws ResultsError where the file is missing, has holes, or holds what is not a finite number.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace vphi::io {

/// Means over cells, x fastest.
struct FieldFile {
  std::vector<std::int64_t> cells;         ///< of each axis, x first
  std::vector<std::vector<double>> edges;  ///< of each axis, ascending; empty: they fill the box
  std::vector<double> values;
};

/// Which numbers of a file are wanted; as program::RandomField has it.
struct FieldPlace {
  int dims = 1;
  int components = 1, entry = 0;      ///< of a value: the real numbers it has, and the one wanted
  bool as_it_is = false;              ///< bodies or links: one number each, without coordinates
  std::vector<std::int64_t> leading;  ///< lengths of the axes of a stack
};

/// `file` as in the model, its path complete; of a stack the given members, the last of its axes
/// fastest, else one field.
std::vector<FieldFile> read_fields(const std::string& file, const FieldPlace& place,
                                   const std::vector<std::int64_t>& members = {0});
FieldFile read_field(const std::string& file, int dims);

/// On a lattice of `extent` sites dx apart, the origin in the centre of the box.
std::vector<double> resampled(const FieldFile& field, const std::array<std::int64_t, 4>& extent,
                              double dx);

}  // namespace vphi::io
