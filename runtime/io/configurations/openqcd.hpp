// openQCD: the universal file of a configuration of SU(3), as its `export_cnfg` writes it.
//
// Little-endian: four 32-bit extents N0 N1 N2 N3, N0 along time; the average of Re tr of the
// plaquettes (3 of unit links), 64 bits; then for each site with x0 + x1 + x2 + x3 odd, x3 fastest,
// eight links, f64, row by row: U(x, mu) and U(x - mu, mu) for mu = 0 ... 3. Every link of a
// periodic lattice with even extents belongs to one odd site. Axes 1, 2, 3 are x, y, z here.
//
// The file has no checksum. The average plaquette must agree to 1e-9 with that of the links.
#pragma once

#include <filesystem>
#include <string>

#include "runtime/io/configurations/configuration.hpp"

namespace vphi::io {

/// Whether the first numbers are even extents and a possible plaquette.
bool looks_like_openqcd(const ByteStream& stream);

/// Throws ConfigurationError.
ConfigurationFile read_openqcd(ByteStream& stream, const ConfigurationWish& wish = {});

/// Throws ResultsError for another group than SU(3), for an odd extent, and where the file cannot
/// be written.
void write_openqcd(const std::filesystem::path& path, const Configuration& configuration);

}  // namespace vphi::io
