// A gauge configuration: the links U_mu(x) of a periodic lattice, in memory and in files.
//
// In memory a link is a full N x N matrix of f64 complex numbers, whatever the format of the file.
// Links have the order of the common file formats: [t][z][y][x][mu][row][column], x fastest of the
// sites, mu = x, y, z, t. U_mu(x) transports a colour vector from x + mu to x. A lattice of fewer
// axes has extent 1 along the rest and unit links there, so that every program that reads ILDG
// files can read it.
//
// A file is read once, front to back. Its checksum, average plaquette and extents are compared with
// the links. No memory is allocated for a length before the file is known to be that long. Errors
// are thrown as ConfigurationError with the file's name, the problem and its remedy.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "program/program.hpp"
#include "runtime/io/files/byte_stream.hpp"
#include "runtime/io/results.hpp"

namespace vphi::io {

using Extents = std::array<std::int64_t, 4>;  ///< x, y, z, t

struct Configuration {
  int colours = 3;  ///< N: links are N x N matrices; 1: U(1)
  Extents extent{1, 1, 1, 1};
  std::vector<std::complex<double>> links;

  std::int64_t sites() const { return extent[0] * extent[1] * extent[2] * extent[3]; }
  std::size_t entries() const { return static_cast<std::size_t>(colours) * colours; }  ///< N^2
  /// Row by row. `site`: x fastest.
  std::span<std::complex<double>> link(std::int64_t site, int mu) {
    return std::span(links).subspan(first(site, mu), entries());
  }
  std::span<const std::complex<double>> link(std::int64_t site, int mu) const {
    return std::span(links).subspan(first(site, mu), entries());
  }

 private:
  std::size_t first(std::int64_t site, int mu) const {
    return (static_cast<std::size_t>(site) * 4 + static_cast<std::size_t>(mu)) * entries();
  }
};

/// A configuration of unit matrices.
Configuration unit_configuration(int colours, const Extents& extent);

struct ConfigurationError : ResultsError {
  enum class Problem {
    Unknown,    ///< a file of no known format, or without links
    Truncated,  ///< shorter than its header says
    Damaged,    ///< a header that is inconsistent or cannot be read
    Checksum,   ///< the links do not have the stated checksum
    Extents,    ///< not the requested lattice
    Group,      ///< not the requested matrices
    Precision,  ///< numbers not of the stated precision
    NoFormat,   ///< neither the file nor the caller gives the extents
  };
  ConfigurationError(Problem problem, const std::string& text)
      : ResultsError(text), problem(problem) {}
  Problem problem;
};

/// The requested lattice and group; a file with others is refused before its links are read.
struct ConfigurationWish {
  std::optional<Extents> extent = {};
  std::optional<int> colours = {};
};

/// The description in a file.
struct ConfigurationFacts {
  std::string format;  ///< "ILDG", "NERSC", "MILC", "openQCD"
  program::Precision precision = program::Precision::F64;
  bool checked = false;  ///< the file had a correct checksum
  bool shaped = true;    ///< the file gives its extents; otherwise they are those of the request
  /// Other entries of the header, in the order of the file: trajectory, beta, plaquette, creator,
  /// ...
  std::vector<std::pair<std::string, std::string>> notes;
};

struct ConfigurationFile {
  Configuration configuration;
  ConfigurationFacts facts;
};

/// Reads a file; its first bytes determine the format. Throws ConfigurationError, or ResultsError
/// where it cannot be opened or read.
ConfigurationFile read_configuration(const std::filesystem::path& path,
                                     const ConfigurationWish& wish = {});
ConfigurationFile read_configuration(ByteStream& stream, const ConfigurationWish& wish = {});

/// "8^3 x 16".
std::string shown_extents(const Extents& extent);
/// Compares with the request; throws ConfigurationError (Extents, Group).
void must_be_wanted(const std::string& file, const Extents& extent, const ConfigurationWish& wish);
void must_be_wanted(const std::string& file, int colours, const ConfigurationWish& wish);
/// Number of sites; throws ConfigurationError (Damaged) where an extent is below 1 or above what a
/// file can hold.
std::int64_t checked_sites(const std::string& file, const Extents& extent);

}  // namespace vphi::io
