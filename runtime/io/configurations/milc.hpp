// MILC: the binary file of a configuration of SU(3), version 5, in the order of the sites.
//
// In the byte order of the writer, which the first word says: the number 20103; extents x y z t and
// 64 bytes of text (a time stamp); the order of the sites, 0; two checksums; the links, f32, in the
// order of configuration.hpp. With w_i the 32-bit words of the links, i from 0 on: sum29 =
// XOR_i rotl(w_i, i mod 29), sum31 = XOR_i rotl(w_i, i mod 31).
#pragma once

#include <filesystem>
#include <string>

#include "runtime/io/configurations/configuration.hpp"

namespace vphi::io {

bool looks_like_milc(const ByteStream& stream);

/// Throws ConfigurationError.
ConfigurationFile read_milc(ByteStream& stream, const ConfigurationWish& wish = {});

/// Writes little-endian numbers of 32 bits. `stamp`: at most 63 characters. Throws ResultsError for
/// another group than SU(3), for extents beyond 32 bits, and where the file cannot be written.
void write_milc(const std::filesystem::path& path, const Configuration& configuration,
                const std::string& stamp);

}  // namespace vphi::io
