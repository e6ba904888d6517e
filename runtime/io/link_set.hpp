// Links in a set of an HDF5 file, for programs that write neither ILDG nor NERSC.
//
// Axes: those of the lattice, slowest first, then the direction mu of the link, then rows and
// columns of its matrix. Complex numbers are pairs of a compound type, as h5py writes them, or one
// more axis of 2. Of U(1) rows and columns may be left out, and real numbers are angles.
//
// Throws ConfigurationError: another shape (Extents), or matrices that are not of the group (Group;
// the farthest is named).
#pragma once

#include "runtime/io/configurations/configuration.hpp"

namespace vphi::io {

/// Whether the name is "path.h5:set".
bool names_link_set(const std::string& file);

/// Of a lattice of `dims` axes; links of the others are 1.
ConfigurationFile read_link_set(const std::string& file, int dims, int colours,
                                const Extents& extent);

}  // namespace vphi::io
