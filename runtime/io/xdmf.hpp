// The XDMF text of a result file, by which ParaView and VisIt find the arrays in the HDF5 file.
//
// Whole lattices and slices are uniform grids, each kind a collection over time of its own; arrays
// of one moment share a grid. The text is XDMF 3 in a form that readers of version 2 accept.
// Uniform grids exist in two and three dimensions, so a line is a plane that is one node thick.
// Vectors of three components are vectors; for other values each component is a scalar. Other
// arrays (four dimensions, a single number, further axes) are omitted.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "program/program.hpp"
#include "runtime/io/results.hpp"

namespace vphi::io {

/// One dataset of the HDF5 file.
struct XdmfArray {
  std::string name;  ///< in the model's notation
  std::string link;  ///< path in the file
  Moment at;
  int bytes = 8;                    ///< of a number
  std::vector<std::int64_t> shape;  ///< slowest axis first
  /// Slice: the axis normal to the slice (x is 0) and the site on it; axis -1: the whole lattice.
  int axis = -1;
  std::int64_t plane = 0;
  /// Axes of `shape` behind those of the lattice are those of a value; the last is (re, im).
  bool parts = false;
};

/// `data`: name of the HDF5 file, in the same folder.
std::string xdmf_text(const program::Program& program, const std::string& data,
                      std::span<const XdmfArray> arrays);

/// Replaces the file in one step, so that readers see the old text or the new. Throws ResultsError.
void write_xdmf(const std::filesystem::path& path, const std::string& text);

}  // namespace vphi::io
