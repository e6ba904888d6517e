// Links in a data set of an HDF5 file, for programs that write neither ILDG nor NERSC files.
//
// Axes: those of the lattice, slowest first, then the direction mu of the link, then rows and
// columns of its matrix. Complex numbers are pairs of a compound type, as h5py writes them, or have
// a further axis of extent 2. For U(1) rows and columns may be omitted, and real numbers are
// angles.
//
// Throws ConfigurationError: Extents for another shape, Group for matrices that are not in the
// group (the message names the farthest).
#pragma once

#include "runtime/io/configurations/configuration.hpp"

namespace vphi::io {

/// Whether the name is "path.h5:set".
bool names_link_set(const std::string& file);

/// Reads a lattice of `dims` axes; links along the other axes are 1.
ConfigurationFile read_link_set(const std::string& file, int dims, int colours,
                                const Extents& extent);

}  // namespace vphi::io
