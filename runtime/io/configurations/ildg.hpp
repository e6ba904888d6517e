// ILDG: the International Lattice Data Grid's file of a gauge configuration, in LIME records.
//
// Records (ILDG binary file format 1.2): `ildg-format`, an XML text with the group (field), the
// precision and lx ly lz lt; `ildg-binary-data`, the links, big-endian, in the order of
// configuration.hpp; `scidac-checksum`, two numbers made of the CRC-32 of each site (below);
// `xlf-info`, lines `name = value` about the trajectory. Records may come in any order. If no
// record gives the extents before the data, the caller must give them; precision and N then follow
// from the length, since N^2 and 2 N^2 are never both squares. All other records are skipped.
//
// SciDAC checksum (QIO, DML_checksum_accum): site r, counted x fastest, whose bytes in the file
// have CRC-32 c_r: suma = XOR_r rotl(c_r, r mod 29), sumb = XOR_r rotl(c_r, r mod 31). Programs
// write these in hexadecimal with and without leading zeros, so they are compared as numbers.
//
// Written files have the records of SciDAC's QIO around the links, so that programs that use it can
// read them too.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/io/configurations/configuration.hpp"

namespace vphi::io {

bool looks_like_lime(const ByteStream& stream);

/// Throws ConfigurationError.
ConfigurationFile read_ildg(ByteStream& stream, const ConfigurationWish& wish = {});

/// Throws ResultsError where the file cannot be written. `notes` are written to `xlf-info`, one a
/// line.
void write_ildg(const std::filesystem::path& path, const Configuration& configuration,
                program::Precision precision,
                const std::vector<std::pair<std::string, std::string>>& notes = {});

struct ScidacSums {
  std::uint32_t a = 0, b = 0;
  /// The bytes of site number `rank`.
  void add(std::uint64_t rank, std::span<const std::byte> site);
  bool operator==(const ScidacSums&) const = default;
};

}  // namespace vphi::io
