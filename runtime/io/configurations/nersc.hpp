// NERSC: the Gauge Connection's file of a gauge configuration, a text header and the links.
//
// Header: lines `name = value` between BEGIN_HEADER and END_HEADER. DATATYPE is 4D_SU3_GAUGE (two
// rows of each link; the third is the conjugate of their cross product) or 4D_SU3_GAUGE_3x3, in
// general 4D_SUN_GAUGE_NxN; FLOATING_POINT is IEEE32BIG, IEEE64BIG, IEEE32LITTLE, IEEE64LITTLE, or
// IEEE32 and IEEE64. The byte order of the latter is found from the first link, whose rows must
// have norm 1. Links are in the order of configuration.hpp. CHECKSUM is the sum of all 32-bit words
// modulo 2^32; PLAQUETTE and LINK_TRACE, averages of Re tr/N, must agree to 1e-5, or to the
// accuracy of the text and of f32 links.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "runtime/io/configurations/configuration.hpp"

namespace vphi::io {

bool looks_like_nersc(const ByteStream& stream);

/// Throws ConfigurationError.
ConfigurationFile read_nersc(ByteStream& stream, const ConfigurationWish& wish = {});

/// Writes all rows, big-endian. Throws ResultsError where the file cannot be written. `notes` are
/// further lines of the header.
void write_nersc(const std::filesystem::path& path, const Configuration& configuration,
                 program::Precision precision,
                 const std::vector<std::pair<std::string, std::string>>& notes = {});

}  // namespace vphi::io
